import { randomBytes } from 'node:crypto';
import type { Asset } from '@florin/contract/money';
import { tronOfAccount } from '@florin/signer/tron';
import { constantCall, transferCall } from './contract-call.ts';
import { estimateCalls } from './estimates.ts';
import type { TronNode } from './node.ts';

/** Three blocks: what a token refuses from then on burns its fee. */
const STANDS_MS = 10_000;
const ACCOUNT_BYTES = 20;

/** USDT checks its blacklist for the sender alone; USDC checks it for the recipient, too. */
const refusesRecipients = (asset: Asset): boolean => asset === 'USDC';

/** A transfer of the merchant's hot wallet. */
export interface Trial {
  asset: Asset;
  contract: string;
  sender: string;
  amount: bigint;
  /** Endpoints that are behind this block are not asked. */
  height: bigint;
}

/**
 * Trials that stand for other transfers of a hot wallet. A transfer is tried before it is signed, as the token burns the fee of one that it
 * refuses; where it refuses nobody as a recipient, one trial tells the same of all that pay no more. It pays an address that never held the
 * token, which is the dearest.
 */
export class TransferTrials {
  /** The newest one, by the contract. */
  readonly #newest = new Map<
    string,
    { amount: bigint; askedAtMs: number; energy: Promise<bigint | undefined> }
  >();

  /** As `tryAnew`, by a trial of the last seconds where there is one. @throws ChainUnavailable */
  async energyOf(node: TronNode, trial: Trial): Promise<bigint | undefined> {
    const known = this.#newest.get(trial.contract);
    const stands = known !== undefined && performance.now() - known.askedAtMs < STANDS_MS;
    return await (stands && trial.amount <= known.amount ? known.energy : this.tryAnew(node, trial));
  }

  /**
   * What a transfer of the wallet may use, whomever it pays.
   *
   * @returns undefined where each transfer has to be tried itself: this trial reverts, its energy is not known, or the token checks recipients
   * @throws ChainUnavailable
   */
  async tryAnew(node: TronNode, trial: Trial): Promise<bigint | undefined> {
    const { asset, contract, amount } = trial;
    if (refusesRecipients(asset)) return undefined;
    const tried = { amount, askedAtMs: performance.now(), energy: tryOnce(node, trial) };
    this.#newest.set(contract, tried);
    try {
      return await tried.energy;
    } catch (error) {
      if (this.#newest.get(contract) === tried) this.#newest.delete(contract);
      throw error;
    }
  }
}

async function tryOnce(
  node: TronNode,
  { contract, sender, amount, height }: Trial,
): Promise<bigint | undefined> {
  const somebody = tronOfAccount(`0x${randomBytes(ACCOUNT_BYTES).toString('hex')}`);
  const call = constantCall(sender, contract, transferCall(somebody, amount));
  const [estimate] = await estimateCalls(node, height, [call]);
  return estimate?.isDoubtful === false ? (estimate.energy ?? undefined) : undefined;
}

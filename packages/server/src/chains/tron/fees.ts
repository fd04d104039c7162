import type { Asset } from '@florin/contract/money';
import { FeeCeilingReached, SigningBlocked } from '../port/port-errors.ts';
import { constantCall } from './contract-call.ts';
import { estimateCalls, isReverting } from './estimates.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { orUnavailable, readList, readNumber, readRecord, unusable } from './node-answers.ts';
import type { TransferTrials } from './transfer-trials.ts';

/**
 * USDT of mainnet at the most that the network makes a busy contract dearer, to somebody who never held it; to a holder it is half. What
 * cannot be estimated may use so much.
 */
export const TRANSFER_ENERGY = 131_000n;
export const HOLDER_ENERGY = 65_000n;
/**
 * Calls of the collector: what they use on Ethereum, twice. An activation may not use more, as a payer whose wallet is a contract has a say in
 * it. What a charge uses is its token's: this is for one of which nothing is known.
 */
export const COLLECTOR_ENERGY = { account: 160_000n, activate: 100_000n, charge: 250_000n } as const;

/** What a call does. */
export type CallUse = 'transfer' | 'sweep' | keyof typeof COLLECTOR_ENERGY;
/** A payment of TRX: an account that it activates, and bandwidth at mainnet's price. */
export const MOVEMENT_SUN = 1_510_000n;
/** What a contract uses may rise until the transaction is in a block: the network makes busy contracts dearer. */
const MARGIN_PERCENT = 20n;
/** Bytes of a signed transfer, with those of its result. */
export const TRANSFER_BANDWIDTH = 410n;
/** The same of a transaction that lends stake, or takes it back. */
export const LENDING_BANDWIDTH = 350n;
/** The same of a signed call of the collector. */
export const COLLECTOR_BANDWIDTH = 850n;
/** Producers may vote another price at any time: the margin is for what they change by as a rule. */
const PRICES_MS = 60_000;

/** In sun. */
export interface Prices {
  energy: bigint;
  bandwidth: bigint;
}

/** The network's prices, which its producers vote on: read once a minute. */
export class PriceList {
  readonly #node: TronNode;
  #known: { prices: Prices; atMs: number } | undefined;

  constructor(node: TronNode) {
    this.#node = node;
  }

  /** By two endpoints' word: with a price that is too low payments burn what they may and fail. @throws ChainUnavailable */
  async read(): Promise<Prices> {
    const known = this.#known;
    if (known !== undefined && performance.now() - known.atMs < PRICES_MS) return known.prices;
    const answer = readRecord(
      await orUnavailable(this.#node.agreed('wallet/getchainparameters', [{}])),
      'the parameters of the chain',
    );
    const parameters = readList(answer.chainParameter, 'the parameters of the chain').map((one) =>
      readRecord(one, 'a parameter'),
    );
    const priceOf = (name: string) => {
      const price = readNumber(parameters.find(({ key }) => key === name)?.value, name);
      if (price === 0n) throw unusable(`${name} is missing`);
      return price;
    };
    const prices = { energy: priceOf('getEnergyFee'), bandwidth: priceOf('getTransactionFee') };
    this.#known = { prices, atMs: performance.now() };
    return prices;
  }
}

/** What is to be signed. */
export interface SignedCall {
  call: { owner: string; contract: string; data: Uint8Array };
  use: CallUse;
  /** Of a transfer. */
  payment?: { asset: Asset; amount: bigint } | undefined;
}

/**
 * The most sun that the energy of a call may cost. Where it is too little the call fails and the sun is burnt all the same. A charge that
 * would fail is sent all the same: the reason is in its block, and nobody waits for it.
 *
 * @throws FeeCeilingReached, SigningBlocked where a transfer would fail now, ChainUnavailable
 */
export async function feeLimitOf(
  {
    node,
    network,
    prices,
    trials,
  }: { node: TronNode; network: TronNetwork; prices: PriceList; trials: TransferTrials },
  { call, use, payment, height }: SignedCall & { height: bigint },
): Promise<bigint> {
  const { energy: price } = await prices.read();
  if (use === 'activate') return limitFor(network, { energy: null, use, price });
  const { owner: sender, contract } = call;
  const known =
    use === 'transfer' && payment !== undefined
      ? await trials.energyOf(node, { ...payment, contract, sender, height })
      : undefined;
  if (known !== undefined) return limitFor(network, { energy: known, use, price });
  const data = Buffer.from(call.data).toString('hex');
  const fields = constantCall(sender, contract, data);
  const [estimate] = await estimateCalls(node, height, [fields]);
  const isTransfer = use === 'transfer' || use === 'sweep';
  if (isTransfer && estimate?.isDoubtful !== false && (await isReverting(node, fields, height)))
    throw new SigningBlocked(
      'trc20',
      'reverts',
      'the token refuses this transfer now: it would burn its fee',
    );
  return limitFor(network, { energy: estimate?.energy ?? null, use, price });
}

/** So much energy, and `MARGIN_PERCENT` of it. */
export const withMargin = (energy: bigint): bigint => (energy * (100n + MARGIN_PERCENT)) / 100n;

interface Limited {
  /** Null: it is not known. */
  energy: bigint | null;
  use: CallUse;
  price: bigint;
}

/** @throws FeeCeilingReached */
export function limitFor({ feeCeilings }: TronNetwork, { energy, use, price }: Limited): bigint {
  // A recipient may be without the token by the time of the block, and what reverts now may pass then. What is not used costs nothing. Of
  // a sweep the recipient is our own, and what is not used stays at an address.
  const least = leastOf(use, energy);
  const most = energy !== null && energy > least ? energy : least;
  const limit = withMargin(most) * price;
  const { feeLimit: ceiling } = feeCeilings;
  if (limit > ceiling)
    throw new FeeCeilingReached(
      'trc20',
      `a transaction costs up to ${limit} sun, above the ceiling of ${ceiling}`,
    );
  return limit;
}

function leastOf(use: CallUse, energy: bigint | null): bigint {
  if (use === 'transfer') return TRANSFER_ENERGY;
  if (use === 'sweep') return energy === null ? TRANSFER_ENERGY : HOLDER_ENERGY;
  if (use !== 'charge' || energy === null) return COLLECTOR_ENERGY[use];
  // The hot wallet may have paid out its last token by the time of the block. A charge that runs out would count as its payer's failure.
  const used = energy + TRANSFER_ENERGY - HOLDER_ENERGY;
  return used > TRANSFER_ENERGY ? used : TRANSFER_ENERGY;
}

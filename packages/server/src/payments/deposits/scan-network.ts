import type { Network } from '@florin/contract/money';
import type { Chain, ScanAnswer } from '../../chains/port/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { checkFinalBlocks, isEarlyCreditStopped } from '../../transfers/blocks/index.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { applyScan } from './apply-scan.ts';
import { type NetworkState, saveCursor } from './deposit-queries.ts';
import { creditDepth } from './early-credit.ts';
import { WatchedAddresses } from './watched-addresses.ts';

// A scan reads twice: final blocks from a durable cursor, and the newer blocks up to the tip each time. After a crash the
// same blocks are read again, which changes nothing (apply-transfers.ts). Most scans find nothing: they read the blocks
// since the cursor once, and write nothing but, once a minute, cursor and time.

/** `read_at` is saved this often, or at once if a payment waits for it. */
const RECORD_READ_SECONDS = 60;

export interface ScanTarget {
  merchant: MerchantRef;
  network: Network;
  /** The merchant's clock when the scan begins. */
  seconds: number;
}

/** Scans a network from its cursor to its tip. @returns whether a payment has changed, or final blocks were replaced @throws ChainUnavailable */
export async function scanNetwork(
  deps: PaymentDeps,
  target: ScanTarget,
  state: NetworkState,
  signal: AbortSignal,
): Promise<boolean> {
  return await new NetworkScan(deps, target, state).run(signal);
}

class NetworkScan {
  readonly #deps: PaymentDeps;
  readonly #target: ScanTarget;
  readonly #state: NetworkState;
  readonly #chain: Chain;
  readonly #watch: WatchedAddresses;
  /** As the database has it. */
  #saved: string | null;
  /** Behind the final blocks that have been read. */
  #cursor: string | null;
  #hasChanged = false;

  constructor(deps: PaymentDeps, target: ScanTarget, state: NetworkState) {
    this.#deps = deps;
    this.#target = target;
    this.#state = state;
    this.#chain = deps.chains.of(target.merchant, target.network);
    this.#watch = new WatchedAddresses(deps.db, target.merchant.merchantId, target.network);
    this.#saved = state.cursor;
    this.#cursor = state.cursor;
  }

  /**
   * What is read depends on the state at the start:
   *
   *     no cursor yet                                    final blocks, then the tip
   *     a minute since `read_at`, or a payment waits     the tip, then final blocks
   *     the tip holds a final transfer, or is too long   the tip, then final blocks
   *     otherwise                                        the tip alone
   *
   * A tip that was not complete is read again after the final blocks, as the cursor is nearer by then.
   */
  async run(signal: AbortSignal): Promise<boolean> {
    const { merchant, network, seconds } = this.#target;
    const isDue = this.#state.is_overdue || seconds - Number(this.#state.read_at) >= RECORD_READ_SECONDS;
    // A read from the cursor to the tip covers the new final blocks too: it shows whether one of them holds a transfer.
    let tip = this.#cursor === null ? undefined : await this.#readTip();
    const { finalHeight } = tip?.head ?? (await this.#chain.head());
    const readsFinal = isDue || tip === undefined || !tip.complete || holdsFinal(tip);
    const newest = readsFinal ? { newest: finalHeight } : {};
    // False: final blocks were replaced. Then the network stops, and the audit must read them before the cursor moves on.
    if (!(await checkFinalBlocks(this.#deps, merchant, { network, ...newest }))) return true;
    if (readsFinal) await this.#applyFinal(finalHeight, signal);
    if (!tip?.complete) tip = await this.#readTip();
    await this.#applySeen(tip);
    if (isDue || this.#hasChanged) await this.#saveRead(tip);
    return this.#hasChanged;
  }

  async #readTip(): Promise<ScanAnswer> {
    return await this.#chain.scan({ level: 'tip', cursor: this.#cursor, watch: this.#watch });
  }

  /** Credits what final blocks hold, and moves the cursor behind them. */
  async #applyFinal(upTo: bigint, signal: AbortSignal): Promise<void> {
    const { network } = this.#target;
    const watch = this.#watch;
    for (let isComplete = false; !isComplete; ) {
      signal.throwIfAborted();
      const blocks = await this.#chain.scan({ level: 'final', cursor: this.#cursor, watch, upTo });
      this.#cursor = blocks.cursor;
      isComplete = blocks.complete;
      if (blocks.transfers.length === 0) continue;
      const depth = { confirmations: this.#chain.capabilities.confirmations, earlyUpTo: undefined };
      await this.#apply({ network, watch, final: blocks.transfers, seen: [], readTo: undefined, depth });
      crashPoint('deposits.before-cursor');
      await this.#save({});
    }
  }

  /** Records what newer blocks hold, and counts its confirmations. */
  async #applySeen({ head, transfers, complete }: ScanAnswer): Promise<void> {
    if (!this.#state.has_seen && transfers.length === 0) return;
    const { merchant, network } = this.#target;
    const readTo = complete ? head.height : undefined;
    // The height is saved first, since confirmations are counted from it. `read_at` is saved last, since payments expire
    // by it: what was seen in time must be stored by then.
    if (readTo !== undefined) await this.#save({ height: readTo });
    const isStopped = await isEarlyCreditStopped(this.#deps.db, merchant, network);
    const depth = creditDepth(this.#chain.capabilities.confirmations, head, isStopped);
    await this.#apply({ network, watch: this.#watch, final: [], seen: transfers, readTo, depth });
  }

  async #saveRead({ complete }: ScanAnswer): Promise<void> {
    const { seconds } = this.#target;
    await this.#save({
      ...(complete && { readAt: seconds }),
      ...(this.#hasChanged && { newsAt: seconds }),
    });
  }

  async #apply(scanned: Parameters<typeof applyScan>[2]): Promise<void> {
    if (await applyScan(this.#deps, this.#target.merchant, scanned)) this.#hasChanged = true;
  }

  async #save(read: Omit<Parameters<typeof saveCursor>[2], 'cursor'>): Promise<void> {
    const { merchant, network } = this.#target;
    const key = { merchantId: merchant.merchantId, network, before: this.#saved };
    const cursor = this.#cursor;
    await transact(this.#deps.db, (tx) => saveCursor(tx, key, { ...read, cursor }));
    this.#saved = cursor;
  }
}

const holdsFinal = ({ transfers, head }: ScanAnswer) =>
  transfers.some(({ height }) => height <= head.finalHeight);

import type { Network } from '@florin/contract/money';
import type { Chain, ScanAnswer } from '../../chains/port/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { checkFinalBlocks, isEarlyCreditStopped } from '../../transfers/blocks/index.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { applyScan } from './apply-scan.ts';
import { isWaiting, type NetworkState, saveCursor } from './deposit-queries.ts';
import { creditDepth } from './early-credit.ts';
import { turnOf } from './turns.ts';
import { WatchedAddresses } from './watched-addresses.ts';

// A scan reads twice: final blocks from a durable cursor, and the newer blocks up to the tip each time. After a crash the
// same blocks are read again, which changes nothing (apply-transfers.ts). Most scans find nothing: they read the blocks
// since the cursor once, and write nothing but, once a minute, cursor and time. Where nobody is expected to pay and nothing has come for a
// while, final blocks alone are read, up to one that may be some minutes old: so merchants that look at different moments share what is read.
// Not where small deposits are credited before they are final, which late ones may be as well; and simulated chains cost nobody calls.

/** `read_at` is saved this often, or at once if a payment waits for it. */
const RECORD_READ_SECONDS = 60;
/** Since the last address or transfer: then looks are a minute apart or more. */
const QUIET_SECONDS = 1_200;

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
  /** This look is recorded as one that has read the network. */
  readonly #isDue: boolean;
  readonly #isQuiet: boolean;
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
    const readAgo = target.seconds - Number(state.read_at);
    // Behind us it lies where a clock ran ahead, which must stop neither looks nor turns.
    this.#isDue = state.is_overdue || readAgo < 0 || readAgo >= RECORD_READ_SECONDS;
    const quietFor = target.seconds - Number(state.news_at);
    const isFinalAll = this.#chain.capabilities.confirmations.early === null;
    const isNobodyDue = !isWaiting(state) && !state.is_overdue && quietFor >= QUIET_SECONDS;
    this.#isQuiet = isNobodyDue && isFinalAll && target.merchant.mode === 'live';
    const { merchantId } = target.merchant;
    const turn = turnOf({ read: Number(state.read_at), now: target.seconds, addresses: state.addresses });
    // A look that is not recorded takes nobody's turn; before the first one there is nothing that a later turn could go on from.
    const given = this.#isDue ? turn : { ...turn, count: 0 };
    const on = { merchantId, network: target.network };
    this.#watch = new WatchedAddresses(deps.db, on, state.cursor === null ? undefined : given);
    this.#saved = state.cursor;
    this.#cursor = state.cursor;
  }

  /**
   * What is read depends on the state at the start:
   *
   *     no cursor yet                                    final blocks, then the tip
   *     quiet                                            final blocks alone
   *     a minute since `read_at`, or a payment waits     the tip, then final blocks
   *     the tip holds a final transfer, or is too long   the tip, then final blocks
   *     otherwise                                        the tip alone
   *
   * A tip that was not complete is read again after the final blocks, as the cursor is nearer by then.
   */
  async run(signal: AbortSignal): Promise<boolean> {
    if (this.#isQuiet && this.#cursor !== null) return await this.#runQuiet(signal);
    const { merchant, network } = this.#target;
    const isDue = this.#isDue;
    // A read from the cursor to the tip covers the new final blocks too: it shows whether one of them holds a transfer.
    let tip = this.#cursor === null ? undefined : await this.#readTip();
    const { finalHeight } = tip?.head ?? (await this.#chain.head());
    const readsFinal = isDue || tip === undefined || !tip.complete || holdsFinal(tip);
    const newest = readsFinal ? { newest: finalHeight } : {};
    // Where nothing is there to be booked, the look of each minute finds out soon enough that final blocks were replaced.
    const mayBook = readsFinal || this.#state.has_seen || (tip !== undefined && tip.transfers.length > 0);
    // False: they were. Then the network stops, and the audit must read them before the cursor moves on.
    if (mayBook && !(await checkFinalBlocks(this.#deps, merchant, { network, ...newest }))) return true;
    if (readsFinal) await this.#applyFinal(finalHeight, signal);
    if (!tip?.complete) tip = await this.#readTip();
    await this.#applySeen(tip);
    if (isDue || this.#hasChanged) await this.#saveRead(tip);
    return this.#hasChanged;
  }

  async #runQuiet(signal: AbortSignal): Promise<boolean> {
    const { merchant, network } = this.#target;
    const freshness = 'relaxed';
    const { finalHeight: newest } = await this.#chain.head(freshness);
    if (!(await checkFinalBlocks(this.#deps, merchant, { network, newest, freshness }))) return true;
    const before = this.#cursor;
    await this.#applyFinal(newest, signal, freshness);
    // Without a new block nothing was read, and nobody had a turn.
    if (this.#hasChanged || this.#cursor !== before) await this.#saveRead({ complete: true });
    return this.#hasChanged;
  }

  async #readTip(): Promise<ScanAnswer> {
    return await this.#chain.scan({ level: 'tip', cursor: this.#cursor, watch: this.#watch });
  }

  /** Credits what final blocks hold, and moves the cursor behind them. */
  async #applyFinal(upTo: bigint, signal: AbortSignal, freshness?: 'relaxed'): Promise<void> {
    const { network } = this.#target;
    const watch = this.#watch;
    for (let isComplete = false; !isComplete; ) {
      signal.throwIfAborted();
      const query = { level: 'final', cursor: this.#cursor, watch, upTo, freshness } as const;
      const blocks = await this.#chain.scan(query);
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

  async #saveRead({ complete }: Pick<ScanAnswer, 'complete'>): Promise<void> {
    const { seconds } = this.#target;
    await this.#save({
      ...(complete && this.#isDue && { readAt: seconds }),
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

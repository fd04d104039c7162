import type { Asset, Network } from '@florin/contract/money';
import { CommitUnknown, type Db, isUnavailable, type Tx, transact } from '../../platform/db/index.ts';
import { checkAddress } from '../addresses/check.ts';
import {
  type AddressCheck,
  type BalancesAnswer,
  type BalanceView,
  type Broadcast,
  type Chain,
  type ChainCapabilities,
  type ChainHealth,
  ChainUnavailable,
  type ChargeSpec,
  DEPOSIT_INDEX_MAX,
  type DepositAddress,
  type FeeEstimate,
  type FeeKind,
  type Head,
  type KeyRef,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateStatesAnswer,
  type MovementSpec,
  type PrecheckRequest,
  type ScanAnswer,
  type ScanQuery,
  type SignedTx,
  SigningBlocked,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
  type ValidateOptions,
} from '../port/port.ts';
import { SigningRefused, type SigningRequest } from '../port/wallet-holder.ts';
import { admit } from './admit.ts';
import { balancesAt } from './balances.ts';
import { BatchedCalls, type ChainView } from './batched-calls.ts';
import { BlockClock, type BlockSettings } from './block-clock.ts';
import { type BuildTime, buildCharge, buildFill, buildTransfer, presentFee } from './build.ts';
import {
  AFTER_EVERYTHING,
  type ChainRow,
  findChain,
  lockChain,
  type TransferPosition,
  updateChain,
} from './chain-queries.ts';
import { findFault } from './envelope.ts';
import { FeePayer } from './fee-payer.ts';
import { hashesOf } from './forks.ts';
import { BLOCK_REASONS } from './holding.ts';
import { readSetup } from './mandate-states.ts';
import { spenderOf } from './mandates.ts';
import { type ScanFault, takeFaults } from './node-faults.ts';
import { NETWORK_RULES } from './rules.ts';
import { cursorAfter, keepWatched, type Recipients, readCursor, readScan, recipientsOf } from './scan.ts';
import { findNextSequenceAt } from './sequence-queries.ts';
import { settle } from './settle.ts';
import { spreadOf } from './spread-balances.ts';
import { readStatus } from './status.ts';
import type { ChainId } from './tables.ts';
import { faucetAddress } from './test-addresses.ts';
import type { SimulatedTiming } from './timing.ts';
import { findTransaction } from './transaction-queries.ts';
import { walletOf } from './wallet.ts';

export interface SimulatedChainOptions extends SimulatedTiming {
  /** Pool of the database that holds the schema `simchain`; never the product's transaction. */
  db: Db;
  merchantId: string;
  network: Network;
  /** The merchant's clock, Unix seconds. */
  now: () => number | Promise<number>;
  /** Share one between all chains of a pool with the same clock and settings. */
  batched?: BatchedCalls;
}

/**
 * The port on the simulated chain. Every call first settles the blocks that are due, under the lock of the chain's row.
 * Nothing runs in the background, and any number of processes may call it concurrently.
 */
export class SimulatedAdapter implements Chain {
  readonly network: Network;
  readonly capabilities: ChainCapabilities;
  protected readonly db: Db;
  protected readonly id: ChainId;
  readonly #now: () => number | Promise<number>;
  readonly #settings: BlockSettings;
  readonly #batched: BatchedCalls;
  readonly #feePayer: FeePayer | undefined;
  readonly hotWallets = async () => [await this.sender('hot')];
  readonly readRotation = async () => null;
  readonly nameAddresses?: NonNullable<Chain['nameAddresses']>;

  constructor(options: SimulatedChainOptions) {
    this.network = options.network;
    this.db = options.db;
    this.id = { merchantId: options.merchantId, network: options.network };
    this.#now = options.now;
    this.#settings = { blockSeconds: options.blockSeconds ?? 1, confirmations: options.confirmations ?? 3 };
    const { confirmations: final } = this.#settings;
    const early = options.earlyConfirmations ?? null;
    this.capabilities = { ...NETWORK_RULES[options.network].capabilities, confirmations: { final, early } };
    this.#batched = options.batched ?? new BatchedCalls(options.db);
    this.#feePayer = FeePayer.of(this, options);
    if (options.namesAddresses === true) this.nameAddresses = (request) => this.#nameAddresses(request);
  }

  async validateAddress(address: string, options: ValidateOptions = {}): Promise<AddressCheck> {
    return checkAddress(this.network, address, options);
  }

  async sender(keyRef: KeyRef): Promise<string> {
    return walletOf(this.id.merchantId, this.network, keyRef).address;
  }

  async unpayableAddresses(): Promise<readonly string[]> {
    return [...new Set([await this.sender('hot'), spenderOf(this.id), faucetAddress(this.network)])];
  }

  async nextSequence(sender: string): Promise<string | null> {
    const { clock } = await this.#nodeView();
    if (!NETWORK_RULES[this.network].sequenced) return null;
    return String(await this.reach(() => findNextSequenceAt(this.db, this.id, sender, clock.height)));
  }

  async head(): Promise<Head> {
    return this.headOf(await this.#nodeView());
  }

  async blockHashes(heights: readonly bigint[]): Promise<ReadonlyMap<bigint, string>> {
    const { row, clock } = await this.#nodeView();
    const shown = heights.filter((height) => height <= clock.finalHeight);
    return await this.reach(() => hashesOf(this.db, this.id, { heights: shown, forks: row.forks }));
  }

  async balance(address: string, asset: Asset, at: BalanceView): Promise<bigint> {
    return (await this.balances([address], asset, at)).balances.get(address) ?? 0n;
  }

  async balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer> {
    const { row, clock } = await this.#nodeView();
    const heightOf = (shown: BlockClock) => (at === 'final' ? shown.finalHeight : shown.height);
    const read = async (some: readonly string[], height: bigint) =>
      await this.reach(() => balancesAt(this.db, this.id, { addresses: some, asset }, height));
    const height = heightOf(clock);
    const [now, later] = spreadOf(row.faults, addresses);
    const balances = await read(now, height);
    if (later.length === 0) return { height, balances };
    const upTo = heightOf(asNode(await this.addBlocks(1)).clock);
    return { height, upTo, balances: new Map([...balances, ...(await read(later, upTo))]) };
  }

  async depositAddress({ index }: { index: number }): Promise<DepositAddress> {
    if (!Number.isInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX)
      throw new RangeError(`a deposit address has a number from 0 to ${DEPOSIT_INDEX_MAX}`);
    const { address } = walletOf(this.id.merchantId, this.network, `deposit:${index}`);
    return { address, watch: address };
  }

  /** The holder is as far away as the node. */
  async #nameAddresses({ from, count }: { from: number; count: number }): Promise<DepositAddress[]> {
    await this.#nodeView();
    const indexes = Array.from({ length: count }, (_, i) => from + i);
    return await Promise.all(indexes.map((index) => this.depositAddress({ index })));
  }

  async cursorAt(height: bigint): Promise<string> {
    return cursorAfter(height);
  }

  async scan(query: ScanQuery): Promise<ScanAnswer> {
    const { level, cursor } = query;
    // Blocks that are not final are read again later: only final ones must be settled.
    const behind = cursor === null ? AFTER_EVERYTHING : readCursor(cursor);
    const seen = await this.view({ closed: level === 'final', behind });
    this.#assertReachable(seen);
    if (level === 'tip' && cursor !== null && seen.hasMore === false)
      return { transfers: [], cursor, complete: true, head: this.headOf(asNode(seen)) };
    const recipients = await recipientsOf(query);
    const page = await this.reach(() => this.#scanAsOf(seen.clock.now, { ...query, recipients }));
    const answer = await keepWatched(page, query);
    const isLost = answer.transfers.length > 0 && (await this.#takeScanFault(seen.row, query.level));
    return isLost ? { ...answer, transfers: answer.transfers.slice(1) } : answer;
  }

  async buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    this.#feePayer?.assertPaid(spec.items.length);
    return this.#sign(spec, buildTransfer(this.id, spec, await this.#buildTime()));
  }

  readonly mandateSetup = (request: MandateRequest): Promise<MandateSetup> =>
    this.reach(() => readSetup(this.db, this.id, request));

  async mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    const { finalHeight: height } = (await this.#nodeView()).clock;
    return { height, states: await this.reach(() => this.#batched.mandateStates(this.id, mandates, height)) };
  }

  async buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    return this.#sign(spec, buildCharge(this.id, spec, await this.#buildTime()));
  }

  async buildSweep(): Promise<never> {
    throw new UnbuildableTransfer('on a simulated chain each deposit address sends its own sweep');
  }

  async buildMovement(spec: MovementSpec): Promise<SignedTx> {
    const { kind } = spec.movement;
    if (kind !== 'fill') throw new UnbuildableTransfer(`a simulated chain has no movement "${kind}"`);
    return this.#sign(spec, buildFill(this.id, spec, await this.#buildTime(true)));
  }

  readonly precheck = async (request: PrecheckRequest) => (await this.#feePayer?.precheck(request)) ?? null;
  readonly checkMandate = async (): Promise<null> => null;
  readonly precheckCharges = async (): Promise<null> => null;
  readonly nativeBalance = async (): Promise<bigint> => 0n;

  /** @throws SigningBlocked where people have to act first; a fill is signed unless everything is frozen */
  async #buildTime(isFill = false): Promise<BuildTime> {
    const { clock, row } = await this.#nodeView();
    const reason = BLOCK_REASONS.find((known) => known === row.signing_held);
    if (reason !== undefined && (!isFill || reason === 'frozen'))
      throw new SigningBlocked(this.network, reason, `the holder of the wallet signs nothing: ${reason}`);
    return { clock, feeFloor: row.fee_floor };
  }

  /** Returns the bytes once the holder has stored them. */
  async #sign(
    { signing, replaces }: { signing: SigningRequest; replaces?: SignedTx },
    signed: SignedTx,
  ): Promise<SignedTx> {
    const isReplacement = replaces !== undefined;
    const held = await this.reach(() => this.#batched.sign(this.id, { signing, signed, isReplacement }));
    if (typeof held === 'string') throw new SigningRefused(this.network, signing.history, held);
    return held;
  }

  async broadcast(signed: SignedTx): Promise<Broadcast> {
    const answer = await this.#batched.broadcast(this.id, signed, (list) => this.#send(list));
    if (typeof answer === 'string') throw new ChainUnavailable(this.network, answer);
    return answer;
  }

  /** @returns the answer to each; a string is the reason of a missing answer */
  async #send(list: readonly SignedTx[]): Promise<(Broadcast | string)[]> {
    const faults = list.map((signed) => findFault(signed, this.network, this.id.merchantId));
    return this.change(async (tx, view) => {
      this.#assertReachable(view);
      const { effects, ...left } = takeFaults(view.row, list.length);
      const good = list.filter((_, i) => faults[i] === undefined && effects[i]?.accepts !== false);
      const { answers, nextArrival } = await admit(tx, this.id, good, {
        nextArrival: view.row.next_arrival,
        clock: view.clock,
      });
      await updateChain(tx, this.id, { ...left, next_arrival: nextArrival });
      const honest = new Map(good.map((signed, i) => [signed, answers[i]]));
      return list.map((signed, i) => {
        const refused = faults[i];
        if (refused !== undefined) return { result: 'rejected', code: refused, retryable: false };
        return effects[i]?.answer ?? honest.get(signed) ?? { result: 'accepted' };
      });
    });
  }

  async status(signed: SignedTx): Promise<TxStatus> {
    const { clock } = await this.#nodeView();
    const row = await this.reach(() => this.#batched.findTransaction(this.id, signed.txId));
    const status = await this.reach(() => readStatus(this.db, this.id, { signed, row }, clock));
    if (status.state !== 'dead') return status;
    // Settles under the lock before answering `dead`: a process that was paused with an old time must not get the
    // transaction into a past block after this.
    return this.change(async (tx, view) => {
      const found = await findTransaction(tx, this.id, signed.txId);
      return readStatus(tx, this.id, { signed, row: found }, asNode(view).clock);
    });
  }

  async estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    const { row } = await this.#nodeView();
    return presentFee(this.network, { kind, items, feeFloor: row.fee_floor });
  }

  async health(): Promise<ChainHealth> {
    try {
      const { row, clock } = await this.#nodeView();
      const lagMs = Number(row.lag_blocks) * this.#settings.blockSeconds * 1000;
      return { ok: true, height: clock.height, lagMs };
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return { ok: false, height: 0n, lagMs: 0, detail: error.message };
    }
  }

  /**
   * The chain as of now, in an outage too, as controls and lists do not depend on the node. `closed`: no process, whatever
   * its clock, can add to a block of this view any more.
   */
  protected async view({
    closed = false,
    behind = AFTER_EVERYTHING,
  }: {
    closed?: boolean;
    behind?: TransferPosition;
  } = {}): Promise<ChainView> {
    const now = await this.#now();
    const row = await this.reach(() =>
      behind === AFTER_EVERYTHING ? this.#batched.findChain(this.id) : findChain(this.db, this.id, behind),
    );
    if (row !== undefined) {
      const clock = this.clockOf(row, now);
      // Most calls find an empty mempool or no new block, and take no lock.
      if (clock.height === row.settled_height || (!closed && !row.has_mempool))
        return { row, clock, hasMore: row.has_more };
    }
    return this.#batched.settled(this.id, () => this.change(async (_tx, view) => view));
  }

  /** Runs `work` on the settled chain, in a transaction that holds its lock. */
  protected async change<T>(work: (tx: Tx, view: ChainView) => Promise<T>): Promise<T> {
    const now = await this.#now();
    return this.reach(() =>
      transact(this.db, async (tx) => {
        const row = await this.settleAt(tx, await lockChain(tx, this.id, now), now);
        return work(tx, { row, clock: this.clockOf(row, now) });
      }),
    );
  }

  /** Makes blocks at once, without the clock. */
  protected addBlocks(blocks: number): Promise<ChainView> {
    return this.change(async (tx, { row, clock }) => {
      const offset = row.height_offset + BigInt(blocks);
      await updateChain(tx, this.id, { height_offset: offset });
      const settled = await this.settleAt(tx, { ...row, height_offset: offset }, clock.now);
      return { row: settled, clock: this.clockOf(settled, clock.now) };
    });
  }

  protected settleAt(tx: Tx, row: ChainRow, now: number): Promise<ChainRow> {
    return settle(tx, this.id, row, { now, settings: this.#settings });
  }

  protected clockOf(row: ChainRow, now: number): BlockClock {
    return new BlockClock(row, now, this.#settings);
  }

  /** Reports a database that is away, or a lost answer to a commit, as an unavailable node. */
  protected async reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CommitUnknown) && !isUnavailable(error)) throw error;
      throw new ChainUnavailable(this.network, 'the simulated chain cannot be reached', error);
    }
  }

  protected headOf({ clock }: ChainView): Head {
    return { height: clock.height, finalHeight: clock.finalHeight, time: clock.now };
  }

  /** The chain as its node reports it. @throws ChainUnavailable in an outage */
  async #nodeView(): Promise<ChainView> {
    const view = await this.view();
    this.#assertReachable(view);
    return asNode(view);
  }

  /** Reads head and transfers in one snapshot, so that no reorganisation comes between them. */
  #scanAsOf(now: number, query: ScanQuery & { recipients: Recipients }): Promise<ScanAnswer> {
    return this.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const row = await findChain(tx, this.id, AFTER_EVERYTHING);
        if (row === undefined) throw new Error('a settled chain has no row');
        const view = asNode({ row, clock: this.clockOf(row, now) });
        return { ...(await readScan(tx, this.id, query, view.clock)), head: this.headOf(view) };
      });
  }

  async #takeScanFault(seen: ChainRow, level: ScanQuery['level']): Promise<boolean> {
    const fault: ScanFault = `lose_${level}_log`;
    if (!seen.faults.includes(fault)) return false;
    return await this.change(async (tx, { row }) => {
      const index = row.faults.indexOf(fault);
      if (index !== -1) await updateChain(tx, this.id, { faults: row.faults.toSpliced(index, 1) });
      return index !== -1;
    });
  }

  #assertReachable({ row, clock }: ChainView): void {
    if (clock.now < Number(row.outage_until)) throw new ChainUnavailable(this.network, 'simulated outage');
  }
}

function asNode({ row, clock }: ChainView): ChainView {
  return { row, clock: clock.behind(row.lag_blocks) };
}

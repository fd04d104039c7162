import type { Asset } from '@florin/contract/money';
import { newId } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { checkAddress } from '../addresses/check.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type Head, type Mandate, type MandateSetup, UnbuildableTransfer } from '../port/port.ts';
import { SimulatedAdapter, type SimulatedChainOptions } from './adapter.ts';
import { updateChain } from './chain-queries.ts';
import { addFork } from './forks.ts';
import type { SimulatedBlockReason } from './holding.ts';
import { spenderOf } from './mandates.ts';
import type { NodeFault, ScanFault } from './node-faults.ts';
import { recordPermissions, setBalance } from './payer-wallets.ts';
import type { Permission } from './permission-queries.ts';
import { type PaidTransfer, receive } from './receive.ts';
import { reorganise } from './reorganise.ts';
import type { BalanceFault } from './spread-balances.ts';
import { faucetAddress } from './test-addresses.ts';
import { findTransferNumber, listTransfers, type TransferRow } from './transfer-queries.ts';
import { simulatedSignature, walletOfLabel } from './wallet.ts';

/** A transfer in the chain's own list. */
export interface SimulatedTransfer {
  id: string;
  txId: string;
  index: number;
  /** Null for a token that is not listed. */
  currency: Asset | null;
  from: string;
  to: string;
  amount: bigint;
  height: bigint;
  final: boolean;
}

export interface SimulatedTransferPage {
  data: SimulatedTransfer[];
  hasMore: boolean;
}

/** A payer's wallet whose balance the chain tracks, as charges are pulled from it. */
export interface PayerWallet {
  owner: string;
  asset: Asset;
}

/** `final`: into a final block at once, so that a sandbox need not wait; otherwise into the newest one. */
interface WalletActionOptions {
  final?: boolean;
}

/** `remine`: payers' transfers move to the newest block, except those of `vanishing` transactions. */
interface ReorgOptions {
  remine?: boolean;
  vanishing?: readonly string[];
}

const MINE_MAX = 100_000;
const LAG_MAX = 100_000;
const HOT_KEY = 'hot';

/** The simulated chain with the sandbox's controls, which work in an outage too. */
export class SimulatedChain extends SimulatedAdapter {
  /** Makes `blocks` blocks at once (1 to 100,000), without the clock. */
  mine(blocks: number): Promise<Head> {
    assertCount(blocks, MINE_MAX, 'mine');
    return this.addBlocks(blocks).then((view) => this.headOf(view));
  }

  /**
   * Replaces the newest `depth` blocks by as many new ones. Our transactions in them must be broadcast again; payers'
   * transfers vanish or, with `remine`, move to the newest block, except those of `vanishing` transactions. No depth is
   * refused: a reorganisation beyond finality is a test too.
   */
  reorg(depth: number, options: ReorgOptions = {}): Promise<Head> {
    assertCount(depth, Number.MAX_SAFE_INTEGER, 'reorg');
    return this.#replaceAbove((newest) => newest - BigInt(depth), options);
  }

  /**
   * As `reorg`, from the block of that height on: exactly that block is reached, however many came since the caller has
   * read the height.
   */
  reorgFrom(height: bigint, options: ReorgOptions = {}): Promise<Head> {
    return this.#replaceAbove(() => height - 1n, options);
  }

  #replaceAbove(
    keep: (newestHeight: bigint) => bigint,
    { remine = false, vanishing = [] }: ReorgOptions,
  ): Promise<Head> {
    return this.change(async (tx, view) => {
      const newestHeight = view.clock.height;
      const kept = keep(newestHeight);
      const keptHeight = kept > 0n ? kept : 0n;
      const newest = { newestHeight, newestTime: view.clock.now };
      await reorganise(tx, this.id, { keptHeight, ...newest, remine, vanishing });
      await addFork(tx, this.id, { forks: view.row.forks, kept: keptHeight });
      return this.headOf(view);
    });
  }

  /** The port throws `ChainUnavailable` for so many seconds of the merchant's clock; blocks go on. 0 ends an outage. */
  outage(seconds: number): Promise<void> {
    assertCount(seconds, Number.MAX_SAFE_INTEGER, 'outage', 0);
    return this.change((tx, { clock }) =>
      updateChain(tx, this.id, { outage_until: BigInt(clock.now + seconds) }),
    );
  }

  /**
   * Blocks leave out transactions of our wallets that offer less native coin, where transactions have sequences; new ones
   * offer at least this. 0 ends it.
   */
  feeFloor(native: bigint): Promise<void> {
    assertUnits(native);
    return this.change((tx) => updateChain(tx, this.id, { fee_floor: native }));
  }

  /** From now on the holder of the wallets signs nothing, as people have to act first; null ends it. */
  holdSigning(reason: SimulatedBlockReason | null): Promise<void> {
    return this.change((tx) => updateChain(tx, this.id, { signing_held: reason }));
  }

  /** The next `count` broadcasts are answered `accepted` and lost. Replaces the rest of an earlier call. */
  dropNext(count: number): Promise<void> {
    assertCount(count, 2 ** 31 - 1, 'dropNext', 0);
    return this.change((tx) => updateChain(tx, this.id, { drop_next: count }));
  }

  /** Queues faults of the node: each applies to one broadcast, or to one scan that finds something; a `BalanceFault` stays. */
  injectFaults(...faults: (NodeFault | ScanFault | BalanceFault)[]): Promise<void> {
    return this.change((tx, { row }) => updateChain(tx, this.id, { faults: [...row.faults, ...faults] }));
  }

  /**
   * The node reports the chain as it was so many blocks ago: a higher lag moves its head back, 0 moves it to the newest
   * block. Broadcasts reach the network all the same.
   */
  lag(blocks: number): Promise<void> {
    assertCount(blocks, LAG_MAX, 'lag', 0);
    return this.change((tx) => updateChain(tx, this.id, { lag_blocks: BigInt(blocks) }));
  }

  /** As `head`, in an outage too. */
  async height(): Promise<Head> {
    return this.headOf(await this.view());
  }

  /** The address that payouts leave from. */
  hotAddress(): Promise<string> {
    return this.sender(HOT_KEY);
  }

  /**
   * The faucet pays the hot wallet, into a final block, so that a sandbox need not wait.
   *
   * @param reference idempotency key: a second call with it pays nothing.
   * @returns the transaction's id.
   */
  async fund(asset: Asset, amount: bigint, reference: string = newId()): Promise<string> {
    if (amount <= 0n) throw new RangeError('amount must be above 0');
    const to = await this.hotAddress();
    const transfers = [{ from: faucetAddress(this.network), to, asset, amount }];
    return this.change((tx, { row, clock }) =>
      receive(tx, this.id, row, { transfers, reference, height: clock.finalHeight, time: clock.now }),
    );
  }

  /**
   * Payers send, all in one transaction in the newest block. Their balances are not tracked: they always have what they
   * send.
   *
   * @param payment.reference idempotency key: a second call with it pays nothing, unless a reorganisation took the
   *   transaction; then it is mined again under its id.
   * @returns the transaction's id.
   * @throws UnbuildableTransfer when a sender or recipient is no address of the network.
   */
  async pay(payment: { transfers: PaidTransfer[]; reference?: string }): Promise<string> {
    const transfers = payment.transfers.map((one) => this.#check(one));
    const reference = `payer ${payment.reference ?? newId()}`;
    return this.change((tx, { row, clock }) =>
      receive(tx, this.id, row, { transfers, reference, height: clock.height, time: clock.now }),
    );
  }

  /** The address of the payer's wallet with that label; this chain has its key. */
  payerAddress(label: string): string {
    return walletOfLabel(this.network, `payer ${this.id.merchantId} ${label}`).address;
  }

  /** A payer's wallet signs a text. */
  signText(address: string, text: string): string {
    return simulatedSignature({ address, text });
  }

  /** The payer's wallet signs and sends the steps of a mandate. @returns the transaction's id */
  authorize({ mandate, steps }: MandateSetup, options?: WalletActionOptions): Promise<string> {
    const permissions = steps.map((step): Permission => {
      const { asset } = mandate;
      if (step.kind === 'activate') return { ...step, asset };
      // An approval that is signed does the same as one that is sent.
      return { kind: 'approve', asset, spender: step.spender, amount: step.amount };
    });
    return this.#recordPermissions(mandate.payer, permissions, options);
  }

  /** The payer approves an allowance for our spender, or for another one. */
  approve(
    { owner, asset }: PayerWallet,
    amount: bigint,
    { spender = spenderOf(this.id), ...options }: WalletActionOptions & { spender?: string } = {},
  ): Promise<string> {
    assertUnits(amount);
    return this.#recordPermissions(owner, [{ kind: 'approve', asset, spender, amount }], options);
  }

  /** The payer revokes a mandate; without a collector, the wallet's whole allowance of the token. */
  revoke({ payer, asset, mandateId }: Mandate, options?: WalletActionOptions): Promise<string> {
    return this.#recordPermissions(payer, [{ kind: 'revoke', asset, mandateId }], options);
  }

  /** Sets the balance of the payer's wallet. */
  hold(
    { owner, asset }: PayerWallet,
    balance: bigint,
    { final = false }: WalletActionOptions = {},
  ): Promise<void> {
    assertUnits(balance);
    return this.change((tx, { row, clock }) => {
      const height = final ? clock.finalHeight : clock.height;
      const deed = { owner, asset, balance, reference: newId(), height, time: clock.now };
      return setBalance(tx, this.id, row, deed);
    });
  }

  #recordPermissions(
    owner: string,
    permissions: readonly Permission[],
    { final = false }: WalletActionOptions = {},
  ) {
    return this.change((tx, { row, clock }) => {
      const height = final ? clock.finalHeight : clock.height;
      return recordPermissions(tx, this.id, row, { owner, permissions, reference: newId(), height });
    });
  }

  /**
   * Newest first, from the chain's own tables.
   *
   * @throws Fail `invalid_request` (param `starting_after`) when `after` is no transfer of this chain.
   */
  async transfers(
    query: { address?: string; limit?: number; after?: string } = {},
  ): Promise<SimulatedTransferPage> {
    const { clock } = await this.view();
    const limit = query.limit ?? 10;
    const rows = await this.reach(async () => {
      const before = query.after === undefined ? {} : { before: await this.#numberOf(query.after) };
      const address = query.address === undefined ? {} : { address: query.address };
      return listTransfers(this.db, this.id, { ...address, ...before, limit: limit + 1 });
    });
    const data = rows.slice(0, limit).map((row) => present(row, clock.finalHeight));
    return { data, hasMore: rows.length > limit };
  }

  async #numberOf(transferId: string): Promise<bigint> {
    const match = /^(.+):(0|[1-9][0-9]{0,8})$/.exec(transferId);
    const number =
      match?.[1] === undefined
        ? undefined
        : await findTransferNumber(this.db, this.id, match[1], Number(match[2]));
    if (number !== undefined) return number;
    throw new Fail('invalid_request', {
      message: 'starting_after must be the id of a transfer of this simulated chain',
      param: 'starting_after',
    });
  }

  #check(transfer: PaidTransfer): PaidTransfer {
    assertUnits(transfer.amount);
    const canonical = (address: string): string => {
      const check = checkAddress(this.network, address, { allowProgramOwned: true });
      if (check.ok) return check.canonical;
      throw new UnbuildableTransfer(`address refused (${check.code})`);
    };
    return { ...transfer, from: canonical(transfer.from), to: canonical(transfer.to) };
  }
}

function present(row: TransferRow, finalHeight: bigint): SimulatedTransfer {
  return {
    id: `${row.tx_id}:${row.index}`,
    txId: row.tx_id,
    index: row.index,
    currency: row.currency,
    from: row.sender,
    to: row.recipient,
    amount: row.amount,
    height: row.height,
    final: row.height <= finalHeight,
  };
}

function assertUnits(amount: bigint): void {
  if (amount < 0n || amount > AMOUNT_MAX) throw new RangeError('amount out of range');
}

function assertCount(value: number, most: number, what: string, least = 1): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${what} must be an integer from ${least} to ${most}`);
}

export function openSimulatedChain(options: SimulatedChainOptions): SimulatedChain {
  return new SimulatedChain(options);
}

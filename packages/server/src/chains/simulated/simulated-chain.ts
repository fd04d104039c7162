import type { Asset } from '@florin/contract/money';
import { newId } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { checkAddress } from '../addresses/check.ts';
import { type Head, type Mandate, type MandateSetup, UnbuildableTransfer } from '../port.ts';
import { SimulatedAdapter, type SimulatedChainOptions } from './adapter.ts';
import { updateChain } from './chain-queries.ts';
import { addFork } from './forks.ts';
import { spenderOf } from './mandates.ts';
import type { NodeFault, ScanFault } from './node-faults.ts';
import { permit, setBalance } from './payer-wallets.ts';
import type { Permission } from './permission-queries.ts';
import { type PaidTransfer, receive } from './receive.ts';
import { reorganise } from './reorganise.ts';
import { faucetAddress } from './test-addresses.ts';
import { findTransferNumber, listTransfers, type TransferRow } from './transfer-queries.ts';
import { walletOfLabel } from './wallet.ts';

/** A movement as the chain itself holds it. */
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

/** A payer's wallet whose account is kept, as charges are pulled from it. */
export interface PayerWallet {
  owner: string;
  asset: Asset;
}

/** `final`: in a final block at once, for a sandbox that does not want to wait; else in the newest one. */
interface DeedOptions {
  final?: boolean;
}

const MINE_MAX = 100_000;
const LAG_MAX = 100_000;
const AMOUNT_MAX = 2n ** 63n - 1n;
const HOT_KEY = 'hot';

/** The simulated chain with what a sandbox may do to it: the port, and controls that work in an outage too. */
export class SimulatedChain extends SimulatedAdapter {
  /** Makes `blocks` blocks at once (1 to 100,000), without the clock. */
  mine(blocks: number): Promise<Head> {
    assertCount(blocks, MINE_MAX, 'mine');
    return this.change(async (tx, { row, clock }) => {
      const offset = row.height_offset + BigInt(blocks);
      await updateChain(tx, this.id, { height_offset: offset });
      const settled = await this.settleAt(tx, { ...row, height_offset: offset }, clock.now);
      return this.headOf({ row: settled, clock: this.clockOf(settled, clock.now) });
    });
  }

  /**
   * Replaces the newest `depth` blocks by as many new ones. Our transactions in them must be broadcast again; payers'
   * transfers vanish or, with `remine`, lie in the newest block, but those of `vanishing` transactions. No depth is
   * refused: beyond finality is a test too.
   */
  reorg(
    depth: number,
    { remine = false, vanishing = [] }: { remine?: boolean; vanishing?: readonly string[] } = {},
  ): Promise<Head> {
    assertCount(depth, Number.MAX_SAFE_INTEGER, 'reorg');
    return this.change(async (tx, view) => {
      const newestHeight = view.clock.height;
      const keptHeight = newestHeight > BigInt(depth) ? newestHeight - BigInt(depth) : 0n;
      const newest = { newestHeight, newestTime: view.clock.now };
      await reorganise(tx, this.id, { keptHeight, ...newest, remine, vanishing });
      await addFork(tx, this.id, { forks: view.row.forks, kept: keptHeight });
      return this.headOf(view);
    });
  }

  /** For so many seconds of the merchant's clock the port throws `ChainUnavailable`; blocks go on. 0 ends an outage. */
  outage(seconds: number): Promise<void> {
    assertCount(seconds, Number.MAX_SAFE_INTEGER, 'outage', 0);
    return this.change((tx, { clock }) =>
      updateChain(tx, this.id, { outage_until: BigInt(clock.now + seconds) }),
    );
  }

  /** The next `count` broadcasts are answered `accepted` and lost. Replaces what was left of an earlier call. */
  dropNext(count: number): Promise<void> {
    assertCount(count, 2 ** 31 - 1, 'dropNext', 0);
    return this.change((tx) => updateChain(tx, this.id, { drop_next: count }));
  }

  /** Queues lies of the node, one for each broadcast to come, or each scan that finds something. */
  injectFaults(...faults: (NodeFault | ScanFault)[]): Promise<void> {
    return this.change((tx, { row }) => updateChain(tx, this.id, { faults: [...row.faults, ...faults] }));
  }

  /**
   * From now on the node shows the chain as it was so many blocks ago: raised while it runs, its head goes back; at 0,
   * it jumps to the newest block. What is broadcast reaches the network all the same.
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
   * The faucet pays the hot wallet: in a final block from the start, as no sandbox operator wants to wait.
   *
   * @param reference names the payment: repeated with the same one, nothing more is paid.
   * @returns the transaction's id.
   */
  async fund(asset: Asset, amount: bigint, reference: string = newId()): Promise<string> {
    if (amount <= 0n) throw new RangeError('an amount is above 0');
    const to = await this.hotAddress();
    const transfers = [{ from: faucetAddress(this.network), to, asset, amount }];
    return this.change((tx, { row, clock }) =>
      receive(tx, this.id, row, { transfers, reference, height: clock.finalHeight, time: clock.now }),
    );
  }

  /**
   * Payers send, all in one transaction that lies in the newest block at once. Their wallets are not kept, they have
   * what they send.
   *
   * @param payment.reference names the transaction: repeated with the same one, nothing more is paid, unless a
   *   reorganisation took it away; then it comes again under its id.
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

  /** The address of a payer's wallet with that label, which this chain has the key of. */
  payerAddress(label: string): string {
    return walletOfLabel(this.network, `payer ${this.id.merchantId} ${label}`).address;
  }

  /** The payer's wallet signs and sends what a mandate needs. @returns the transaction's id */
  authorize({ mandate, steps }: MandateSetup, options?: DeedOptions): Promise<string> {
    const permissions = steps.map((step): Permission => ({ ...step, asset: mandate.asset }));
    return this.#permit(mandate.payer, permissions, options);
  }

  /** The payer lets somebody pull that much from now on: our spender, unless another one is named. */
  approve(
    { owner, asset }: PayerWallet,
    amount: bigint,
    { spender = spenderOf(this.id), ...options }: DeedOptions & { spender?: string } = {},
  ): Promise<string> {
    assertUnits(amount);
    return this.#permit(owner, [{ kind: 'approve', asset, spender, amount }], options);
  }

  /** The payer takes a mandate back; where there is no collector, all that the wallet allowed of the token. */
  revoke({ payer, asset, mandateId }: Mandate, options?: DeedOptions): Promise<string> {
    return this.#permit(payer, [{ kind: 'revoke', asset, mandateId }], options);
  }

  /** The payer's wallet holds that much from now on. */
  hold({ owner, asset }: PayerWallet, balance: bigint, { final = false }: DeedOptions = {}): Promise<void> {
    assertUnits(balance);
    return this.change((tx, { row, clock }) => {
      const height = final ? clock.finalHeight : clock.height;
      const deed = { owner, asset, balance, reference: newId(), height, time: clock.now };
      return setBalance(tx, this.id, row, deed);
    });
  }

  #permit(owner: string, permissions: readonly Permission[], { final = false }: DeedOptions = {}) {
    return this.change((tx, { row, clock }) => {
      const height = final ? clock.finalHeight : clock.height;
      return permit(tx, this.id, row, { owner, permissions, reference: newId(), height });
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
      message: 'starting_after names no transfer of this simulated chain',
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
  throw new RangeError(`${what} takes ${least} to ${most}`);
}

export function openSimulatedChain(options: SimulatedChainOptions): SimulatedChain {
  return new SimulatedChain(options);
}

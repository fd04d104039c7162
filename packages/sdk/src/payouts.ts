import { randomUUID } from 'node:crypto';
import { payoutAmount } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { NotFoundError } from './errors.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type {
  ApprovalInput,
  ApprovalSubject,
  CreateOptions,
  Page,
  PayoutBatch,
  PayoutBatchInput,
  PayoutBatchQuery,
  PayoutBatchStatus,
  PayoutItem,
  PayoutItemInput,
  PayoutItemQuery,
} from './types.ts';

const PATH = '/payout-batches';
/** A batch in one of these was submitted, whatever became of it; `canceled` does not tell. */
const SUBMITTED: ReadonlySet<PayoutBatchStatus> = new Set([
  'pending',
  'pending_approval',
  'processing',
  'partially_completed',
  'completed',
  'failed',
  'rejected',
]);

/** Payout batches. Every write that may or may not have happened is looked up before it is sent again. */
export class Payouts extends Resource {
  /**
   * Creates a draft; nothing is paid before `submit`. Throws InvalidRequestError, ConflictError and the common ones.
   *
   * @example
   * ```ts
   * const batch = await florin.payouts.create({
   *   currency: 'USDT',
   *   items: wages.map(({ address }) => ({ network: 'trc20', address, amount: usdt('120.50') })),
   * });
   * await florin.payouts.submit(batch.batch_id);
   * ```
   */
  async create(batch: PayoutBatchInput, options: CreateOptions = {}): Promise<PayoutBatch> {
    const idempotencyKey = options.idempotencyKey ?? randomUUID();
    const find = async (): Promise<PayoutBatch | undefined> => {
      const query = { idempotency_key: idempotencyKey, limit: 1 };
      const { data } = await this.get<Page<PayoutBatch>>(PATH, query);
      // A key of the caller's may belong to other parameters: only the service can compare, when it is sent again.
      return options.idempotencyKey === undefined ? data[0] : undefined;
    };
    const body = { ...batch, items: batch.items.map(itemBody) };
    return this.write({ method: 'POST', path: PATH, body, idempotencyKey, onDoubt: find });
  }

  /**
   * A batch, without its items.
   *
   * @example
   * ```ts
   * const { status, total_amount } = await florin.payouts.retrieve(batchId);
   * ```
   */
  async retrieve(batchId: string): Promise<PayoutBatch> {
    return this.read(batchPath(batchId));
  }

  /**
   * The batches of the store, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.payouts.list({ status: 'pending_approval' });
   * ```
   */
  list(query: PayoutBatchQuery = {}): CursorList<PayoutBatch> {
    return this.pages(PATH, query, (batch) => batch.batch_id);
  }

  /**
   * Starts the payout. The balance is reserved; above a limit of approval it waits in `pending_approval`.
   *
   * @example
   * ```ts
   * const { status } = await florin.payouts.submit(batchId);
   * if (status === 'pending_approval') console.log('two people have to approve it');
   * ```
   */
  async submit(batchId: string): Promise<PayoutBatch> {
    return this.#move(batchId, 'submit', (status) => SUBMITTED.has(status));
  }

  /**
   * Ends a batch that no transfer was sent for yet and releases what it reserved.
   *
   * @example
   * ```ts
   * await florin.payouts.cancel(batchId);
   * ```
   */
  async cancel(batchId: string): Promise<PayoutBatch> {
    return this.#move(batchId, 'cancel', (status) => status === 'canceled');
  }

  /**
   * What the approvers of a batch of real money sign; see `signApproval`.
   *
   * @example
   * ```ts
   * const subject = await florin.payouts.statement(batchId);
   * console.log(subject.items.length, subject.network);
   * ```
   */
  async statement(batchId: string): Promise<ApprovalSubject> {
    return this.read(`${batchPath(batchId)}/statement`);
  }

  /**
   * Approves a batch of real money with an approver's signature, of `signApproval` or of a wallet. Throws InvalidRequestError
   * where it is not that approver's, or not over this batch, and the common ones.
   *
   * @example
   * ```ts
   * const subject = await florin.payouts.statement(batchId);
   * await florin.payouts.approve(batchId, signApproval(subject, { approver: 'payroll', privateKey }));
   * ```
   */
  async approve(batchId: string, approval: ApprovalInput): Promise<PayoutBatch> {
    const path = batchPath(batchId);
    const find = this.foundIf<PayoutBatch>(path, ({ status }) => status !== 'pending_approval');
    return this.post(`${path}/approve`, approval, find);
  }

  /**
   * The items of a batch, in its order.
   *
   * @example
   * ```ts
   * for await (const item of florin.payouts.items(batchId, { status: 'failed' })) console.log(item.item_id);
   * ```
   */
  items(batchId: string, query: PayoutItemQuery = {}): CursorList<PayoutItem> {
    return this.pages(`${batchPath(batchId)}/items`, query, (item) => item.item_id);
  }

  /**
   * An item, with its transaction once there is one.
   *
   * @example
   * ```ts
   * const { status, tx_id } = await florin.payouts.item(batchId, itemId);
   * ```
   */
  async item(batchId: string, itemId: string): Promise<PayoutItem> {
    return this.read(itemPath(batchId, itemId));
  }

  /**
   * Replaces an item as a whole, in `draft` and `needs_fix`.
   *
   * @example
   * ```ts
   * await florin.payouts.updateItem(batchId, itemId, { network: 'trc20', address, amount: usdt('99.90') });
   * ```
   */
  async updateItem(batchId: string, itemId: string, item: PayoutItemInput): Promise<PayoutItem> {
    const path = itemPath(batchId, itemId);
    return this.amend(path, itemBody(item), { method: 'PUT', path });
  }

  /**
   * Drops an item, in `draft` and `needs_fix`, and answers the batch that is left.
   *
   * @example
   * ```ts
   * const { total_count } = await florin.payouts.deleteItem(batchId, itemId);
   * ```
   */
  async deleteItem(batchId: string, itemId: string): Promise<PayoutBatch> {
    const path = itemPath(batchId, itemId);
    const find = async (): Promise<PayoutBatch | undefined> => {
      try {
        await this.get<PayoutItem>(path);
        return undefined;
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        return this.get<PayoutBatch>(batchPath(batchId));
      }
    };
    return this.write({ method: 'DELETE', path, onDoubt: find });
  }

  #move(batchId: string, verb: string, done: (status: PayoutBatchStatus) => boolean): Promise<PayoutBatch> {
    const path = batchPath(batchId);
    return this.post(
      `${path}/${verb}`,
      {},
      this.foundIf<PayoutBatch>(path, ({ status }) => done(status)),
    );
  }
}

function batchPath(batchId: string): string {
  return `${PATH}/${segment(batchId)}`;
}

function itemPath(batchId: string, itemId: string): string {
  return `${batchPath(batchId)}/items/${segment(itemId)}`;
}

function itemBody(item: PayoutItemInput): object {
  return { ...item, amount: payoutAmount(item.amount) };
}

import { randomUUID } from 'node:crypto';
import { baseUnits } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { NotFoundError } from './errors.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { ApprovalInput, ApprovalSubject, Refund, RefundInput, RefundQuery } from './types.ts';

const PATH = '/refunds';

/** Refunds to payers. A refund is identified by your own `refund_id`, so retries create one refund. */
export class Refunds extends Resource {
  /**
   * Refunds a payment, all that is left of it unless `amount` and `currency` say less. Without `refund_id` a UUID is
   * made: give your own to repeat after a crash. Without `address`, and where the payer has proved no wallet, send the
   * payer to `claim_url` of the answer. Throws InvalidRequestError for what cannot be refunded, ConflictError for a
   * refund_id that stands for another request, RateLimitError where the day's limit is reached, and the common ones.
   *
   * @example
   * ```ts
   * const refund = await florin.refunds.create({
   *   refund_id: 'order-17-returned',
   *   payment_id: paymentId,
   *   amount: usdt('5.00'),
   *   currency: 'USDT',
   * });
   * if (refund.claim_url !== null) console.log(refund.claim_url); // the payer names an address there
   * ```
   */
  async create(refund: RefundInput): Promise<Refund> {
    const { amount, refund_id: refundId = randomUUID(), ...rest } = refund;
    const body = {
      refund_id: refundId,
      ...rest,
      ...(amount === undefined ? {} : { amount: baseUnits(amount) }),
    };
    const find = async (): Promise<Refund | undefined> => {
      const found = await this.#find(refundId);
      // An id of the caller's may belong to other parameters: only the service can compare, when it is sent again.
      return refund.refund_id === undefined ? found : undefined;
    };
    return this.post(`${PATH}/create`, body, find);
  }

  /**
   * The refunds of the store, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.refunds.list({ status: 'pending' });
   * ```
   */
  list(query: RefundQuery = {}): CursorList<Refund> {
    return this.pages(PATH, query, (refund) => refund.refund_id);
  }

  /**
   * A refund, by your own id.
   *
   * @example
   * ```ts
   * const { status, tx_id } = await florin.refunds.retrieve('order-17-returned');
   * ```
   */
  async retrieve(refundId: string): Promise<Refund> {
    return this.read(refundPath(refundId));
  }

  /**
   * Cancels a `pending` refund and releases its money.
   *
   * @example
   * ```ts
   * await florin.refunds.cancel('order-17-returned');
   * ```
   */
  async cancel(refundId: string): Promise<Refund> {
    const find = async (): Promise<Refund | undefined> => {
      const refund = await this.#find(refundId);
      return refund?.status === 'canceled' ? refund : undefined;
    };
    const path = `${refundPath(refundId)}/cancel`;
    return this.post(path, {}, find);
  }

  /**
   * What the approvers of a refund of real money sign; see `signApproval`.
   *
   * @example
   * ```ts
   * const subject = await florin.refunds.statement('order-17-returned');
   * ```
   */
  async statement(refundId: string): Promise<ApprovalSubject> {
    return this.read(`${refundPath(refundId)}/statement`);
  }

  /**
   * Approves a refund of real money with an approver's signature. Throws as `payouts.approve`.
   *
   * @example
   * ```ts
   * const subject = await florin.refunds.statement('order-17-returned');
   * const approval = signApproval(subject, { approver: 'support', privateKey });
   * await florin.refunds.approve('order-17-returned', approval);
   * ```
   */
  async approve(refundId: string, approval: ApprovalInput): Promise<Refund> {
    const path = refundPath(refundId);
    const find = this.foundIf<Refund>(path, ({ status }) => status !== 'pending');
    return this.post(`${path}/approve`, approval, find);
  }

  async #find(refundId: string): Promise<Refund | undefined> {
    try {
      return await this.get<Refund>(refundPath(refundId));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

function refundPath(refundId: string): string {
  return `${PATH}/${segment(refundId)}`;
}

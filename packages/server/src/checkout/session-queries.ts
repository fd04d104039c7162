import { type PaymentRow, UNPAID } from '../payments/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { prepared } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import './tables.ts';

const paymentNotFound = () => new Fail('resource_not_found', 'There is no such payment.');
const sessionNotFound = () => new Fail('resource_not_found', 'There is no such session.');

export type SessionRow = Awaited<ReturnType<typeof getSession>>;

interface Owner {
  merchantId: string;
  storeId: string;
}

function checkStore<T extends { store_id: string }>(row: T, { storeId }: Owner): T {
  if (row.store_id !== storeId) throw new Fail('forbidden', 'This belongs to another store of the merchant.');
  return row;
}

/** @throws Fail `resource_not_found`; `forbidden` for a session of another store of the merchant */
export async function getSession(db: Db, owner: Owner, id: string) {
  const sessionId = decodeId('checkoutSession', id);
  const row =
    sessionId &&
    (await db
      .selectFrom('checkout_session')
      .selectAll()
      .where('merchant_id', '=', owner.merchantId)
      .where('session_id', '=', sessionId)
      .executeTakeFirst());
  if (!row) throw sessionNotFound();
  return checkStore(row, owner);
}

/**
 * Resolves a payment's id, or its session's id, to the payment's UUID.
 *
 * @throws Fail `resource_not_found`; `forbidden` for a payment of another store of the merchant
 */
export async function findPaymentId(db: Db, owner: Owner, id: string): Promise<string> {
  if (id.startsWith('cs_')) {
    return (
      await getSession(db, owner, id).catch((error: unknown) => {
        throw error instanceof Fail && error.code === 'resource_not_found' ? paymentNotFound() : error;
      })
    ).payment_id;
  }
  const paymentId = decodeId('payment', id);
  const row =
    paymentId &&
    (await db
      .selectFrom('payment')
      .select(['payment_id', 'store_id'])
      .where('merchant_id', '=', owner.merchantId)
      .where('payment_id', '=', paymentId)
      .executeTakeFirst());
  if (!row) throw paymentNotFound();
  return checkStore(row, owner).payment_id;
}

type NewPayment = Pick<
  PaymentRow,
  'store_id' | 'invoice_id' | 'customer' | 'amount' | 'currency' | 'metadata' | 'expires_at' | 'created_at'
>;

/** Inserts a session and its payment in one statement. @returns the payment's row */
export async function insertSession(tx: Tx, session: SessionRow, fresh: NewPayment): Promise<PaymentRow> {
  const { merchant_id: merchantId, session_id: sessionId, payment_id: paymentId } = session;
  await prepared`
    with due as (
      insert into payment (merchant_id, payment_id, store_id, session_id, invoice_id, customer, amount, currency, status,
        metadata, expires_at, created_at)
      values (${merchantId}, ${paymentId}, ${fresh.store_id}, ${sessionId}, ${fresh.invoice_id}, ${fresh.customer},
        ${fresh.amount}, ${fresh.currency}, 'pending', ${JSON.stringify(fresh.metadata)}, ${fresh.expires_at}, ${fresh.created_at})
    )
    insert into checkout_session (merchant_id, session_id, store_id, payment_id, page_token, order_id, description,
      customer_email, success_url, cancel_url, options, period_start, period_end, created_at)
    values (${merchantId}, ${sessionId}, ${session.store_id}, ${paymentId}, ${session.page_token}, ${session.order_id},
      ${session.description}, ${session.customer_email}, ${session.success_url}, ${session.cancel_url},
      ${JSON.stringify(session.options)}, ${session.period_start}, ${session.period_end}, ${session.created_at})`.execute(
    tx,
  );
  return {
    merchant_id: merchantId,
    payment_id: paymentId,
    session_id: sessionId,
    ...fresh,
    ...UNPAID,
    status: 'pending',
    fixed_currency: null,
    fixed_network: null,
    decline_code: null,
    wallet_address: null,
  };
}

import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { columnsOf, insertRows } from '../platform/db/statements/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import './tables.ts';

const SESSION = columnsOf('checkout_session', {
  merchant_id: 'uuid',
  session_id: 'uuid',
  store_id: 'uuid',
  payment_id: 'uuid',
  page_token: 'text',
  order_id: 'text',
  description: 'text',
  customer_email: 'text',
  success_url: 'text',
  cancel_url: 'text',
  options: 'jsonb',
  period_start: 'bigint',
  period_end: 'bigint',
  created_at: 'bigint',
});

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

/** The sessions of payments, by their UUIDs. */
export async function readSessions(
  db: Db,
  merchantId: string,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, SessionRow>> {
  const rows = await db
    .selectFrom('checkout_session')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('session_id', '=', sql<string>`any(${sessionIds}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.session_id, row]));
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

export async function insertSession(tx: Tx, session: SessionRow): Promise<void> {
  await insertRows(tx, SESSION, [session]);
}

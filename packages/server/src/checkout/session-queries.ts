import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { deferred } from '../platform/db/statements/index.ts';
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
  const row = { ...session, options: JSON.stringify(session.options) };
  await deferred`${tx.insertInto('checkout_session').values(row)}`.execute(tx);
}

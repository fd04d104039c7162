import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import { cursorOf, type Page, readByCreation } from '../platform/db/lists/index.ts';
import { prepared } from '../platform/db/statements/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import './tables.ts';

const selectCustomers = (db: Db, merchantId: string) =>
  db.selectFrom('customer').selectAll().where('merchant_id', '=', merchantId);

export type CustomerRow = Selectable<Tables['customer']>;
type NewCustomer = Insertable<Tables['customer']>;

const customerNotFound = () => new Fail('resource_not_found', 'There is no such customer.');

/** @throws Fail `resource_not_found` */
export async function getCustomer(db: Db, merchantId: string, id: string): Promise<CustomerRow> {
  const customerId = decodeId('customer', id);
  const row = customerId && (await findCustomerById(db, merchantId, customerId));
  if (!row) throw customerNotFound();
  return row;
}

export async function findCustomerById(
  db: Db,
  merchantId: string,
  customerId: string,
): Promise<CustomerRow | undefined> {
  return await selectCustomers(db, merchantId).where('customer_id', '=', customerId).executeTakeFirst();
}

/** The customer by the merchant's own id. */
export async function findCustomer(
  db: Db,
  merchantId: string,
  externalId: string,
): Promise<CustomerRow | undefined> {
  return await selectCustomers(db, merchantId)
    .where('external_customer_id', '=', externalId)
    .executeTakeFirst();
}

/** In the order of their creation; one row more than the limit. */
export async function listCustomers(
  db: Db,
  merchantId: string,
  page: Page<string> & { externalId?: string | undefined; email?: string | undefined },
): Promise<CustomerRow[]> {
  let query = selectCustomers(db, merchantId);
  if (page.externalId !== undefined) query = query.where('external_customer_id', '=', page.externalId);
  if (page.email !== undefined) query = query.where(sql`lower(email)`, '=', sql`lower(${page.email})`);
  const after = await cursorOf(page.after, (id) => getCustomer(db, merchantId, id));
  return await readByCreation(query, 'customer_id', { ...page, after });
}

/** @returns undefined where the merchant has a customer with this id */
export async function insertCustomer(db: Db, row: NewCustomer): Promise<CustomerRow | undefined> {
  return await db
    .insertInto('customer')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'external_customer_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Inserts the customer, or fills its empty fields. */
export async function upsertCustomer(tx: Tx, row: NewCustomer): Promise<void> {
  await prepared`
    insert into customer as c
      (merchant_id, customer_id, external_customer_id, email, name, phone, description, created_at)
    values (${row.merchant_id}, ${row.customer_id}, ${row.external_customer_id}, ${row.email}, ${row.name},
            ${row.phone}, ${row.description}, ${row.created_at})
    on conflict (merchant_id, external_customer_id) do update set
      email = coalesce(c.email, excluded.email),
      name = coalesce(c.name, excluded.name),
      phone = coalesce(c.phone, excluded.phone)`.execute(tx);
}

/** Updates the defined fields. @throws Fail `resource_not_found` */
export async function updateCustomer(
  db: Db,
  customer: Pick<CustomerRow, 'merchant_id' | 'customer_id'>,
  change: Partial<Pick<CustomerRow, 'email' | 'name' | 'phone' | 'description'>>,
): Promise<CustomerRow> {
  return await db
    .updateTable('customer')
    .set(change)
    .where('merchant_id', '=', customer.merchant_id)
    .where('customer_id', '=', customer.customer_id)
    .returningAll()
    .executeTakeFirstOrThrow(customerNotFound);
}

import { NETWORKS } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { encodeId, type IdKind } from '../../tenancy/index.ts';
import { type Terms, termsOf } from './terms.ts';

/** What the search finds, of each at most ten, newest first. */
export type FoundKind = 'payment' | 'customer' | 'refund' | 'payout' | 'subscription' | 'invoice';

export interface Found {
  kind: FoundKind;
  id: string;
  /** By which people know it: an order, a name, a description. */
  label: string | null;
  status: string | null;
  /** In the smallest unit of the currency; null of what has none. */
  amount: number | null;
  currency: string | null;
  /** Unix seconds. */
  createdAt: number;
}

interface Row {
  id: string;
  label: string | null;
  status: string | null;
  amount: bigint | null;
  currency: string | null;
  created_at: bigint;
}

interface Owner {
  merchantId: string;
  storeId: string;
}

type Sql = RawBuilder<unknown>;

const EACH_MAX = 10;

/** Where a kind is kept, and what of it is shown. Tables of several modules are read here and written by none. */
const PLACES = {
  payment: {
    table: 'payment',
    key: 'payment_id',
    kind: 'payment',
    columns: sql`payment_id as id, order_id as label, status, amount, currency`,
  },
  customer: {
    table: 'customer',
    key: 'customer_id',
    kind: 'customer',
    columns: sql`customer_id as id, coalesce(email, name, external_customer_id) as label, null as status, null as amount, null as currency`,
  },
  refund: {
    table: 'refund',
    key: 'refund_id',
    // Merchants name them.
    kind: undefined,
    columns: sql`own_id as id, reason as label, status, amount, currency`,
  },
  payout: {
    table: 'payout_batch',
    key: 'batch_id',
    kind: 'payoutBatch',
    columns: sql`batch_id as id, description as label, status, total_amount as amount, currency`,
  },
  subscription: {
    table: 'subscription',
    key: 'subscription_id',
    kind: 'subscription',
    columns: sql`subscription_id as id, coalesce(description, customer) as label, status, amount, currency`,
  },
  invoice: {
    table: 'invoice',
    key: 'invoice_id',
    kind: 'invoice',
    columns: sql`invoice_id as id, customer as label, status, amount_due as amount, currency`,
  },
} as const satisfies Record<
  FoundKind,
  { table: string; key: string; kind: IdKind | undefined; columns: Sql }
>;

const networks = sql`array[${sql.join(NETWORKS)}]::text[]`;

/** The rows of a kind that a text may name: one statement for each name, as each has an index of its own. */
class Lookups {
  readonly #owner: Owner;
  readonly #of: FoundKind;
  readonly #terms: Terms;
  readonly #ids: Sql[] = [];

  constructor(owner: Owner, of: FoundKind, terms: Terms) {
    this.#owner = owner;
    this.#of = of;
    this.#terms = terms;
    const { key, kind } = PLACES[of];
    if (kind !== undefined) this.#byId(kind, key, sql.table(PLACES[of].table), key);
  }

  /** Customers are those of the merchant, whichever store they buy from. */
  get #owned(): Sql {
    const { merchantId, storeId } = this.#owner;
    const ofStore = this.#of === 'customer' ? sql`` : sql`and store_id = ${storeId}`;
    return sql`merchant_id = ${merchantId} ${ofStore}`;
  }

  #byId(kind: IdKind, column: string, table: Sql, key: string): this {
    const { ids } = this.#terms;
    if (ids?.kind !== kind) return this;
    const { merchantId } = this.#owner;
    this.#ids.push(sql`(select ${sql.ref(key)} from ${table}
      where merchant_id = ${merchantId} and ${sql.ref(column)} between ${ids.from}::uuid and ${ids.to}::uuid
      order by ${sql.ref(column)} desc limit ${EACH_MAX})`);
    return this;
  }

  /** Rows by the ids of what belongs to them, such as the items of a batch. */
  byPart(kind: IdKind, table: string, column: string): this {
    return this.#byId(kind, column, sql.table(table), PLACES[this.#of].key);
  }

  /** Rows whose value is this one; undefined: it is none. */
  byValue(expression: Sql, value: string | undefined): this {
    if (value === undefined) return this;
    const { table, key } = PLACES[this.#of];
    this.#ids.push(sql`(select ${sql.ref(key)} from ${sql.table(table)}
      where ${this.#owned} and ${expression} = ${value} order by created_at desc limit ${EACH_MAX})`);
    return this;
  }

  /** Rows that another statement names by their ids. */
  byOthers(value: string | undefined, select: (value: string, merchantId: string) => Sql): this {
    if (value !== undefined)
      this.#ids.push(sql`(${select(value, this.#owner.merchantId)} limit ${EACH_MAX})`);
    return this;
  }

  async read(db: Db): Promise<Found[]> {
    if (this.#ids.length === 0) return [];
    const { table, key, kind, columns } = PLACES[this.#of];
    const { merchantId, storeId } = this.#owner;
    const isOfStore = this.#of !== 'customer';
    // By the primary key alone: with the store or an order beside it the planner walks through all rows of the store.
    const { rows } = await sql<Row>`
      with found as materialized (
        select ${columns}, created_at ${isOfStore ? sql`, store_id` : sql``} from ${sql.table(table)}
        where merchant_id = ${merchantId} and ${sql.ref(key)} = any(array(${sql.join(this.#ids, sql` union all `)}))
      )
      select * from found ${isOfStore ? sql`where store_id = ${storeId}` : sql``}
      order by created_at desc limit ${EACH_MAX}`.execute(db);
    return rows.map((row) => ({
      kind: this.#of,
      id: kind === undefined ? row.id : encodeId(kind, row.id),
      label: row.label,
      status: row.status,
      amount: row.amount === null ? null : Number(row.amount),
      currency: row.currency,
      createdAt: Number(row.created_at),
    }));
  }
}

const depositOf = (address: string, merchantId: string) => sql`
  select payment_id from deposit_address
  where merchant_id = ${merchantId} and network = any(${networks}) and watch = ${address}`;
const paidBy = (txId: string, merchantId: string) => sql`
  select payment_id from payment_transaction
  where merchant_id = ${merchantId} and network = any(${networks}) and tx_id = ${txId}`;
const paidOutBy = (txId: string, merchantId: string) => sql`
  select i.batch_id from transfer_attempt a
  join transfer t on t.merchant_id = a.merchant_id and t.group_id = a.group_id and t.owner_type = 'payout_item'
  join payout_item i on i.merchant_id = t.merchant_id and i.item_id = t.owner_id
  where a.merchant_id = ${merchantId} and a.network = any(${networks}) and a.tx_id = ${txId}`;

/** Everything of a store that a text names: whole ids and their beginnings, orders, e-mail addresses, addresses, transactions. */
export async function search(db: Db, owner: Owner, typed: string): Promise<Found[]> {
  const terms = termsOf(typed);
  if (terms.text === '') return [];
  const { email, address, txId } = terms;
  // A whole id of ours is no name of anything else; `in_2024` may be an order.
  const name = terms.ids !== undefined && terms.ids.from === terms.ids.to ? undefined : terms.text;
  const lookups = [
    new Lookups(owner, 'payment', terms)
      .byPart('checkoutSession', 'checkout_session', 'session_id')
      .byValue(sql`order_id`, name)
      .byValue(sql`lower(payer_email)`, email)
      .byOthers(address, depositOf)
      .byOthers(txId, paidBy),
    new Lookups(owner, 'customer', terms)
      .byValue(sql`external_customer_id`, name)
      .byValue(sql`lower(email)`, email),
    new Lookups(owner, 'refund', terms)
      .byValue(sql`own_id`, terms.text)
      .byValue(sql`address`, address)
      .byValue(sql`tx_id`, txId),
    new Lookups(owner, 'payout', terms)
      .byPart('payoutItem', 'payout_item', 'item_id')
      .byValue(sql`idempotency_key`, name)
      .byOthers(txId, paidOutBy),
    new Lookups(owner, 'subscription', terms),
    new Lookups(owner, 'invoice', terms),
  ];
  const found: Found[] = [];
  for (const lookup of lookups) found.push(...(await lookup.read(db)));
  return found;
}

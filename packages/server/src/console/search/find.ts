import { ASSETS, NETWORKS } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import { codeOf, type Db, transact } from '../../platform/db/index.ts';
import { encodeId, type IdKind } from '../../tenancy/index.ts';
import { type Sum, type Terms, termsOf } from './terms.ts';

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
/** Of the newest rows with a part that fits, so many are looked at for one of the store: an exchange may have sent a million payments. */
const NEWEST_MAX = 200;
/** One kind that takes longer is left out: the others are found. */
const KIND_MS = 1_500;
const STATEMENT_TIMEOUT = '57014';

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

/** Of a customer. */
const EXTERNAL_ID = sql`external_customer_id`;
const EMAIL = sql`lower(email)`;

const networks = sql`array[${sql.join(NETWORKS)}]::text[]`;

/** The rows of a kind that a text may name: one statement for each name, as each has an index of its own. */
class Lookups {
  readonly #owner: Owner;
  readonly of: FoundKind;
  readonly #terms: Terms;
  readonly #names: Sql[] = [];
  /** What only has this amount, or is this customer's. */
  readonly #others: Sql[] = [];

  constructor(owner: Owner, of: FoundKind, terms: Terms) {
    this.#owner = owner;
    this.of = of;
    this.#terms = terms;
    const { key, kind } = PLACES[of];
    if (kind !== undefined) this.#byId(kind, key, sql.table(PLACES[of].table), key);
  }

  /** Customers are those of the merchant, whichever store they buy from. */
  get #owned(): Sql {
    const { merchantId, storeId } = this.#owner;
    const ofStore = this.of === 'customer' ? sql`` : sql`and store_id = ${storeId}`;
    return sql`merchant_id = ${merchantId} ${ofStore}`;
  }

  #byId(kind: IdKind, column: string, table: Sql, key: string): this {
    const { ids } = this.#terms;
    if (ids?.kind !== kind) return this;
    const { merchantId } = this.#owner;
    this.#names.push(sql`(select ${sql.ref(key)} from ${table}
      where merchant_id = ${merchantId} and ${sql.ref(column)} between ${ids.from}::uuid and ${ids.to}::uuid
      order by ${sql.ref(column)} desc limit ${EACH_MAX})`);
    return this;
  }

  /** Rows by the ids of what belongs to them, such as the items of a batch. */
  byPart(kind: IdKind, table: string, column: string): this {
    return this.#byId(kind, column, sql.table(table), PLACES[this.of].key);
  }

  /** Rows whose value is this one; undefined: it is none. */
  byValue(expression: Sql, value: string | undefined): this {
    return this.#valued(this.#names, expression, value);
  }

  /** Rows of a customer who is named so. */
  byCustomer(value: string | undefined): this {
    return this.#valued(this.#others, sql`customer`, value);
  }

  #valued(list: Sql[], expression: Sql, value: string | undefined): this {
    if (value === undefined) return this;
    const { table, key } = PLACES[this.of];
    list.push(sql`(select ${sql.ref(key)} from ${sql.table(table)}
      where ${this.#owned} and ${expression} = ${value} order by created_at desc limit ${EACH_MAX})`);
    return this;
  }

  /**
   * Rows of one of these amounts: of each currency the newest ones, as the index has them. With equalities the planner would walk through all
   * rows of a store that sells at one price, once for each currency in which it sells nothing.
   */
  byAmount(column: string, sums: readonly Sum[]): this {
    if (sums.length === 0) return this;
    const { table, key } = PLACES[this.of];
    this.#others.push(sql`(select found.id from ${sumsTable(sums)} cross join lateral (
        select ${sql.ref(key)} as id, created_at from ${sql.table(table)}
        where ${this.#owned}
          and (${sql.ref(column)}, currency) >= (sum.units, sum.currency) and (${sql.ref(column)}, currency) <= (sum.units, sum.currency)
        order by ${sql.ref(column)} desc, currency desc, created_at desc limit ${EACH_MAX}) as found
      order by found.created_at desc limit ${EACH_MAX})`);
    return this;
  }

  /** Rows with a part of one of these amounts, which another statement names by their ids. */
  byPartAmount(sums: readonly Sum[], select: (sums: readonly Sum[], owner: Owner) => Sql): this {
    return this.#selected(this.#others, sums.length > 0 ? sums : undefined, select);
  }

  /** Rows that another statement names by their ids. */
  byOthers(value: string | undefined, select: (value: string, owner: Owner) => Sql): this {
    return this.#selected(this.#names, value, select);
  }

  /** As `byOthers`, of what is a customer's. */
  byCustomers(value: string | undefined, select: (value: string, owner: Owner) => Sql): this {
    return this.#selected(this.#others, value, select);
  }

  #selected<Value>(list: Sql[], value: Value | undefined, select: (value: Value, owner: Owner) => Sql): this {
    if (value !== undefined) list.push(sql`(${select(value, this.#owner)} limit ${EACH_MAX})`);
    return this;
  }

  /**
   * What has this name stands before what only has this amount, or is this customer's: an order `1250` among all payments of 1,250, and
   * of the customer `1250`.
   */
  async read(db: Db): Promise<{ found: Found[]; isWhole: boolean }> {
    const named = await this.#readIn(db, this.#names);
    const others = named?.length === EACH_MAX ? [] : await this.#readIn(db, this.#others);
    const ids = new Set(named?.map(({ id }) => id));
    const added = others?.filter(({ id }) => !ids.has(id));
    return {
      found: [...(named ?? []), ...(added ?? [])].slice(0, EACH_MAX),
      isWhole: named !== undefined && others !== undefined,
    };
  }

  /** The newest first; undefined: it took too long. */
  async #readIn(db: Db, ids: readonly Sql[]): Promise<Found[] | undefined> {
    if (ids.length === 0) return [];
    try {
      return await transact(db, async (tx) => {
        await sql`set local statement_timeout = ${sql.lit(KIND_MS)}`.execute(tx);
        return await this.#select(tx, ids);
      });
    } catch (error) {
      if (codeOf(error) === STATEMENT_TIMEOUT) return undefined;
      throw error;
    }
  }

  async #select(db: Db, ids: readonly Sql[]): Promise<Found[]> {
    const { table, key, kind, columns } = PLACES[this.of];
    const { merchantId, storeId } = this.#owner;
    const isOfStore = this.of !== 'customer';
    // By the primary key alone: with the store or an order beside it the planner walks through all rows of the store.
    const { rows } = await sql<Row>`
      with found as materialized (
        select ${columns}, created_at ${isOfStore ? sql`, store_id` : sql``} from ${sql.table(table)}
        where merchant_id = ${merchantId} and ${sql.ref(key)} = any(array(${sql.join(ids, sql` union all `)}))
      )
      select * from found ${isOfStore ? sql`where store_id = ${storeId}` : sql``}
      order by created_at desc limit ${EACH_MAX}`.execute(db);
    return rows.map((row) => ({
      kind: this.of,
      id: kind === undefined ? row.id : encodeId(kind, row.id),
      label: row.label,
      status: row.status,
      amount: row.amount === null ? null : Number(row.amount),
      currency: row.currency,
      createdAt: Number(row.created_at),
    }));
  }
}

const depositOf = (address: string, { merchantId }: Owner) => sql`
  select payment_id from deposit_address
  where merchant_id = ${merchantId} and network = any(${networks}) and watch = ${address}`;
/** The newest payments or batches of the store with a transfer or an item of this address. */
const withAddress =
  (of: 'payment' | 'payout', parts: 'payment_transaction' | 'payout_item', column: 'sender' | 'address') =>
  (address: string, { merchantId, storeId }: Owner) => {
    const { table, key } = PLACES[of];
    const id = sql.ref(`whole.${key}`);
    return sql`select distinct ${id} from (
        select ${sql.ref(key)} from ${sql.table(parts)}
        where merchant_id = ${merchantId} and ${sql.ref(column)} = ${address}
        order by ${sql.ref(key)} desc limit ${NEWEST_MAX}) as part
      join ${sql.table(table)} as whole on whole.merchant_id = ${merchantId} and ${id} = ${sql.ref(`part.${key}`)}
      where whole.store_id = ${storeId} order by ${id} desc`;
  };
const paidBy = (txId: string, { merchantId }: Owner) => sql`
  select payment_id from payment_transaction
  where merchant_id = ${merchantId} and network = any(${networks}) and tx_id = ${txId}`;
const paidOutBy = (txId: string, { merchantId }: Owner) => sql`
  select i.batch_id from transfer_attempt a
  join transfer t on t.merchant_id = a.merchant_id and t.group_id = a.group_id and t.owner_type = 'payout_item'
  join payout_item i on i.merchant_id = t.merchant_id and i.item_id = t.owner_id
  where a.merchant_id = ${merchantId} and a.network = any(${networks}) and a.tx_id = ${txId}`;

const sumsTable = (sums: readonly Sum[]) => sql`unnest(
  ${sums.map(({ currency }) => currency)}::text[],
  ${sums.map(({ units }) => String(units))}::bigint[]) as sum (currency, units)`;

/** What customers have, the newest first: those with this name in the merchant's own system, or with this e-mail address. */
const ofCustomer =
  (of: 'payment' | 'subscription' | 'invoice', by: Sql) =>
  (value: string, { merchantId, storeId }: Owner) => {
    const key = sql.ref(PLACES[of].key);
    const isTheirs =
      of === 'invoice' ? sql`customer_id = c.customer_id` : sql`customer = c.external_customer_id`;
    return sql`select found.id from (
      select customer_id, external_customer_id from customer
      where merchant_id = ${merchantId} and ${by} = ${value} order by created_at desc limit ${EACH_MAX}) as c
    cross join lateral (
      select ${key} as id, created_at from ${sql.table(PLACES[of].table)}
      where merchant_id = ${merchantId} and store_id = ${storeId} and ${isTheirs}
      order by created_at desc, ${key} desc limit ${EACH_MAX}) as found
    order by found.created_at desc`;
  };

/** The newest batches with an item of one of these amounts: from one to the next in the index, however many items each has. */
const batchesPaying = (sums: readonly Sum[], { merchantId, storeId }: Owner) => {
  const newest = (before: Sql) => sql`select i.batch_id from payout_item i
    where i.merchant_id = ${merchantId} and i.amount = sum.units ${before} order by i.batch_id desc limit 1`;
  return sql`select b.batch_id from ${sumsTable(sums)} cross join lateral (
      with recursive paying (batch_id, place) as (
        (select newest.batch_id, 1 from (${newest(sql``)}) as newest)
        union all
        select older.batch_id, place + 1 from paying
        cross join lateral (${newest(sql`and i.batch_id < paying.batch_id`)}) as older
        where place < ${NEWEST_MAX}
      )
      select batch_id from paying) as paying
    join payout_batch b on b.merchant_id = ${merchantId} and b.batch_id = paying.batch_id
    where b.store_id = ${storeId} and b.currency = sum.currency
    order by b.batch_id desc`;
};

/**
 * Everything of a store that a text names: whole ids and their beginnings, orders, customers with what they have, e-mail addresses,
 * addresses of ours, of recipients and of those who paid, transactions, amounts.
 *
 * @returns what was found, and the kinds of which there may be more, as looking for them took too long
 */
export async function search(
  db: Db,
  owner: Owner,
  typed: string,
): Promise<{ found: Found[]; cut: FoundKind[] }> {
  const terms = termsOf(typed);
  if (terms.text === '') return { found: [], cut: [] };
  const { email, address, txId, sums } = terms;
  const ofTokens = sums.filter(({ currency }) => ASSETS.some((asset) => asset === currency));
  // A whole id of ours is no name of anything else; `in_2024` may be an order.
  const name = terms.ids !== undefined && terms.ids.from === terms.ids.to ? undefined : terms.text;
  const lookups = [
    new Lookups(owner, 'payment', terms)
      .byPart('checkoutSession', 'checkout_session', 'session_id')
      .byValue(sql`order_id`, name)
      .byCustomer(name)
      .byValue(sql`lower(payer_email)`, email)
      .byCustomers(email, ofCustomer('payment', EMAIL))
      .byAmount('amount', sums)
      .byOthers(address, depositOf)
      .byOthers(address, withAddress('payment', 'payment_transaction', 'sender'))
      .byOthers(txId, paidBy),
    new Lookups(owner, 'customer', terms).byValue(EXTERNAL_ID, name).byValue(EMAIL, email),
    new Lookups(owner, 'refund', terms)
      .byValue(sql`own_id`, terms.text)
      .byValue(sql`address`, address)
      .byValue(sql`tx_id`, txId),
    new Lookups(owner, 'payout', terms)
      .byPart('payoutItem', 'payout_item', 'item_id')
      .byValue(sql`idempotency_key`, name)
      .byAmount('total_amount', ofTokens)
      .byPartAmount(ofTokens, batchesPaying)
      .byOthers(address, withAddress('payout', 'payout_item', 'address'))
      .byOthers(txId, paidOutBy),
    new Lookups(owner, 'subscription', terms)
      .byCustomer(name)
      .byCustomers(email, ofCustomer('subscription', EMAIL)),
    new Lookups(owner, 'invoice', terms)
      .byCustomers(name, ofCustomer('invoice', EXTERNAL_ID))
      .byCustomers(email, ofCustomer('invoice', EMAIL)),
  ];
  const all: Found[] = [];
  const cut: FoundKind[] = [];
  for (const lookup of lookups) {
    const { found, isWhole } = await lookup.read(db);
    all.push(...found);
    if (!isWhole) cut.push(lookup.of);
  }
  return { found: all, cut };
}

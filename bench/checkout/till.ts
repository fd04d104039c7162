import { randomBytes, randomUUID } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import pg from 'pg';
import { type App, migrateAll, openApp } from '../../packages/server/src/app.ts';
import { scanDeposits } from '../../packages/server/src/payments/deposits/scan-deposits.ts';
import type { JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';

const NETWORK = 'erc20';
const DUE = 1_000_000n;
const PAYER_INDEX = 2 ** 31 - 1;
const DAY_SECONDS = 86_400;
const ANALYZE_FROM = 1_000;

const RUN: JobRun = {
  step: () => Promise.reject(new Error('unused')),
  finish: () => Promise.reject(new Error('unused')),
  onRevision: () => {},
  signal: new AbortController().signal,
};

/** Many payments at once, as creating a session and choosing an option leave them; `status` may be that of one that ended. */
const INSERT = `
  with due as (
    select * from unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) as d (payment_id, session_id, address, index)
  ), payments as (
    insert into payment (merchant_id, payment_id, store_id, session_id, amount, currency, status, chosen_currency,
      chosen_network, expires_at, created_at)
    select $1::uuid, payment_id, $2::uuid, session_id, $7::bigint, 'USDT', $10, 'USDT', $9,
      $8::bigint, $8::bigint - ${DAY_SECONDS} from due
  ), sessions as (
    insert into checkout_session (merchant_id, session_id, store_id, payment_id, page_token, options, created_at)
    select $1::uuid, session_id, $2::uuid, payment_id, md5(session_id::text), '[]', $8::bigint - ${DAY_SECONDS} from due
  ), options as (
    insert into payment_option (merchant_id, payment_id, currency, network, address, watch, exchange_rate, pay_amount,
      quote_ends_at, chosen_at)
    select $1::uuid, payment_id, 'USDT', $9, address, address, '1', $7::bigint, $8::bigint,
      $8::bigint - ${DAY_SECONDS} from due
  ), cursors as (
    insert into deposit_cursor as c (merchant_id, network, next_address_index)
    values ($1::uuid, $9, cardinality($5::text[])) on conflict (merchant_id, network) do update
    set next_address_index = c.next_address_index + excluded.next_address_index
  )
  insert into deposit_address (merchant_id, network, watch, payment_id, currency, address_index)
  select $1::uuid, $9, address, payment_id, 'USDT', index from due`;

interface NewPayments {
  merchantId: string;
  storeId: string;
  network: Network;
  addresses: readonly string[];
  /** Of the first address. */
  firstIndex: number;
  /** Unix seconds. */
  expiresAt: number;
  status: 'pending' | 'expired';
}

/** Inserts a payment with a deposit address for each of `addresses`, and moves the cursor's next index on. */
export async function insertPayments(databaseUrl: string, payments: NewPayments): Promise<void> {
  const { merchantId, storeId, network, addresses, firstIndex, expiresAt, status } = payments;
  const ids = () => addresses.map(() => randomUUID());
  const indexes = addresses.map((_, i) => firstIndex + i);
  const values = [merchantId, storeId, ids(), ids(), addresses, indexes, DUE, expiresAt, network, status];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(INSERT, values);
  // Plans are made for tables of this size.
  if (addresses.length >= ANALYZE_FROM) await client.query('analyze');
  await client.end();
}

/** Opens the service's parts in this process, on a database of their own. */
export async function openTills(databaseUrl: string): Promise<{ app: App; masterKey: Buffer }> {
  const masterKey = randomBytes(32);
  await migrateAll(databaseUrl, undefined);
  return {
    app: await openApp({ databaseUrl, masterKey, log: createLogger('silent'), poolSize: 4 }),
    masterKey,
  };
}

/** A sandbox merchant with payments that wait to be paid. */
export class Till {
  readonly #app: App;
  readonly #merchantId: string;
  readonly #storeId: string;
  #index = 0;

  private constructor(app: App, merchantId: string, storeId: string) {
    this.#app = app;
    this.#merchantId = merchantId;
    this.#storeId = storeId;
  }

  static async open(app: App): Promise<Till> {
    const { merchantId } = await stores.createMerchant(app, { name: 'Till', mode: 'sandbox' });
    const storeId = await stores.createStore(app, { merchantId, name: 'Till', channelType: 'api' });
    return new Till(app, merchantId, storeId);
  }

  /** @returns the addresses of so many further payments */
  async openPayments(count: number): Promise<string[]> {
    const chain = this.#app.chains.sandbox(this.#merchantId, NETWORK);
    const firstIndex = this.#index;
    this.#index += count;
    const indexes = Array.from({ length: count }, (_, i) => firstIndex + i);
    const places = await Promise.all(indexes.map((index) => chain.depositAddress({ index })));
    const addresses = places.map(({ address }) => address);
    await insertPayments(this.#app.databaseUrl, {
      merchantId: this.#merchantId,
      storeId: this.#storeId,
      network: NETWORK,
      addresses,
      firstIndex,
      expiresAt: this.#app.clock.nowSeconds() + DAY_SECONDS,
      status: 'pending',
    });
    return addresses;
  }

  /** One payer pays all of them, in one block. */
  async pay(addresses: readonly string[]): Promise<void> {
    const chain = this.#app.chains.sandbox(this.#merchantId, NETWORK);
    const { address: from } = await chain.depositAddress({ index: PAYER_INDEX });
    await chain.pay({ transfers: addresses.map((to) => ({ from, to, amount: DUE, asset: 'USDT' })) });
  }

  async becomeFinal(): Promise<void> {
    await this.#app.chains.sandbox(this.#merchantId, NETWORK).mine(3);
  }

  /** One look at the network, as a worker takes it. @returns milliseconds */
  async look(): Promise<number> {
    const job = { merchantId: this.#merchantId, jobId: '', kind: '', attempts: 0, dueAtMs: 0, trace: null };
    const startMs = performance.now();
    await scanDeposits(this.#app, { ...job, payload: { network: NETWORK } }, RUN);
    return performance.now() - startMs;
  }
}

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type App, migrateAll, openApp } from '../../packages/server/src/app.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { addSubscribers, beginBilling } from '../../test/subscriptions/subscribers.ts';
import type { BenchServer } from '../database.ts';

const NETWORK = 'erc20';
const LOOK_EVERY_MS = 100;
const POOL_SIZE = 4;

interface Owner {
  merchantId: string;
  storeId: string;
}

/** Sandbox merchants whose subscriptions come due together; the chains have a database of their own. */
export class Company {
  readonly app: App;
  readonly owners: readonly Owner[];
  readonly #env: Record<string, string>;
  readonly #client: pg.Client;
  readonly #chainClient: pg.Client;

  private constructor(
    app: App,
    owners: readonly Owner[],
    place: { env: Record<string, string>; client: pg.Client; chainClient: pg.Client },
  ) {
    this.app = app;
    this.owners = owners;
    this.#env = place.env;
    this.#client = place.client;
    this.#chainClient = place.chainClient;
  }

  /** @param poolSize 1: everything goes through one connection, in one order */
  static async open(server: BenchServer, merchants: number, poolSize = POOL_SIZE): Promise<Company> {
    const [databaseUrl, simchainUrl] = [await server.createDatabase(), await server.createDatabase()];
    const masterKey = randomBytes(32);
    await migrateAll(databaseUrl, simchainUrl);
    const log = createLogger('silent');
    const app = await openApp({ databaseUrl, simchainUrl, masterKey, log, poolSize });
    const owners: Owner[] = [];
    for (let i = 0; i < merchants; i++) {
      const { merchantId } = await stores.createMerchant(app, { name: `Merchant ${i}`, mode: 'sandbox' });
      const storeId = await stores.createStore(app, { merchantId, name: 'Store', channelType: 'api' });
      await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
      owners.push({ merchantId, storeId });
    }
    const env = {
      DATABASE_URL: databaseUrl,
      FLORIN_SIMCHAIN_URL: simchainUrl,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
    };
    return new Company(app, owners, {
      env,
      client: await dial(databaseUrl),
      chainClient: await dial(simchainUrl),
    });
  }

  /** Environment of a process of the service. */
  get env(): Record<string, string> {
    return this.#env;
  }

  chain({ merchantId }: Owner) {
    return this.app.chains.sandbox(merchantId, NETWORK);
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, values)).rows;
  }

  /** Further subscriptions, divided among the merchants, whose periods end now. */
  async subscribe(count: number): Promise<void> {
    const dueAt = this.app.clock.nowSeconds();
    const each = Math.ceil(count / this.owners.length);
    for (const owner of this.owners) {
      const payee = { ...owner, chain: this.chain(owner), chainClient: this.#chainClient };
      await addSubscribers(this.#client, payee, { count: each, dueAt });
    }
    await this.#chainClient.query('analyze');
  }

  /** Renews so many, as the workers of `env` do. @returns renewals a second, from the due time to the last one's payment */
  async renew(count: number): Promise<number> {
    await this.subscribe(count);
    const due = (await this.#countPaid()) + Math.ceil(count / this.owners.length) * this.owners.length;
    const merchantIds = this.owners.map(({ merchantId }) => merchantId);
    await beginBilling(this.#client, merchantIds);
    const startMs = performance.now();
    while ((await this.#countPaid()) < due) await sleep(LOOK_EVERY_MS);
    return (count * 1000) / (performance.now() - startMs);
  }

  async #countPaid(): Promise<number> {
    const [found] = await this.query<{ n: number }>(
      `select count(*)::int as n from invoice where status = 'paid'`,
    );
    return found?.n ?? 0;
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.end(), this.#chainClient.end()]);
    await this.app.close();
  }
}

async function dial(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

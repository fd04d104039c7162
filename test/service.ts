import { randomBytes, randomUUID } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { SCOPES } from '@florin/contract/scopes';
import { Florin } from '@florin/sdk';
import type { FastifyInstance } from 'fastify';
import { type App, createApiServer, migrateAll, openApp } from '../packages/server/src/app.ts';
import type { LiveConfig, SimulatedTiming } from '../packages/server/src/chains/index.ts';
import { openLiveAccount } from '../packages/server/src/custody/index.ts';
import { type MailConfig, readConfig } from '../packages/server/src/platform/config.ts';
import type { JobWorker } from '../packages/server/src/platform/jobs/index.ts';
import { createLogger, type Logger } from '../packages/server/src/platform/observability/log.ts';
import { fund } from '../packages/server/src/sandbox/fund.ts';
import * as stores from '../packages/server/src/stores/index.ts';
import * as storeKeys from '../packages/server/src/stores/keys/index.ts';
import type { WebhookDeps } from '../packages/server/src/webhooks/index.ts';
import { startWorkers } from '../packages/server/src/workers.ts';
import { createDatabase } from './database.ts';

/** A merchant of a test with one enabled store and one key. */
export interface TestMerchant {
  merchantId: string;
  storeId: string;
  keyId: string;
  apiKey: string;
  secretKey: string;
  sdk: Florin;
}

export interface MerchantOptions {
  mode?: 'sandbox' | 'live';
  /** Units of each asset on each network; default 1,000,000.00. 0n: none. */
  funds?: bigint;
  scopes?: readonly string[];
  /** On which a live merchant gets its account (erc20). */
  network?: Network;
}

export interface NodeOptions {
  rate?: { perSecond: number; burst: number };
  /** Another way to the same database: through a proxy. */
  databaseUrl?: string;
}

export interface TestService {
  app: App;
  baseUrl: string;
  /** A further API node on the same database, with pools of its own. */
  addNode(options?: NodeOptions): Promise<string>;
  /** Starts (another) worker; stopped with the service. */
  startWorker(): Promise<JobWorker>;
  createMerchant(options?: MerchantOptions): Promise<TestMerchant>;
  /** A further store and key of a merchant. */
  addStore(merchant: TestMerchant): Promise<TestMerchant>;
  sdkFor(credentials: { apiKey: string; secretKey: string }, baseUrl?: string): Florin;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  worker?: boolean;
  /** One that is there already, and stays; by default a new one for this service alone. */
  databaseUrl?: string;
  /** Where the chains are (in the service's database). */
  simchainUrl?: string;
  masterKey?: Buffer;
  log?: Logger;
  /** How long a request waits for a row that somebody else holds, in milliseconds (8,000). */
  lockTimeoutMs?: number;
  /** Connections of each pool (10). */
  poolSize?: number;
  /** Where webhooks go instead of over the network; by default nobody answers. */
  receive?: WebhookDeps['outbound']['post'];
  /** Seconds of real time after which an endpoint that only fails is disabled (432,000). */
  disableAfterSeconds?: number;
  /** How fast the simulated chains are. */
  simchainTiming?: SimulatedTiming;
  /** Who takes mail of live merchants. */
  mailServer?: MailConfig | undefined;
  /** A network with real money, and its signer. */
  live?: LiveConfig;
}

/** Blocks come only when a test makes them: what lasts a block or two is seen on a slow machine too. */
export const BLOCKS_BY_HAND: SimulatedTiming = { blockSeconds: 100_000 };

const MILLION = 1_000_000_000_000n;
const UNLIMITED = { perSecond: 10_000, burst: 10_000 };

/**
 * The real service in this process, on a database of its own: everything but the process around it. Answers are checked
 * against their schemas.
 */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const { databaseUrl, simchainUrl, masterKey = randomBytes(32), log = createLogger('silent') } = options;
  const own = databaseUrl === undefined ? await createDatabase() : undefined;
  const url = databaseUrl ?? own?.url ?? '';
  await migrateAll(url, simchainUrl);
  const { lockTimeoutMs, poolSize = 10 } = options;
  const { receive = async () => ({ failure: 'connection' as const }), disableAfterSeconds = 432_000 } =
    options;
  const webhooks = { outbound: { post: receive }, disableAfterSeconds };
  const place = {
    databaseUrl: url,
    simchainUrl,
    masterKey,
    log,
    poolSize,
    lockTimeoutMs,
    webhooks,
    live: options.live,
    mailServer: options.mailServer,
    simchainTiming: options.simchainTiming,
  };
  const app = await openApp(place);
  const apps = [app];
  const servers: FastifyInstance[] = [];
  const workers: JobWorker[] = [];
  const serveOn = async (on: App, rate: { perSecond: number; burst: number }) => {
    let address = '';
    const { described: processSettings } = readConfig({ DATABASE_URL: url }, {}, { logLevel: 'silent' });
    const own = { publicUrl: () => address, rate, checkAnswers: true, processSettings };
    const server = createApiServer(on, own);
    servers.push(server);
    address = await server.listen({ host: '127.0.0.1', port: 0 });
    return address;
  };
  const baseUrl = await serveOn(app, UNLIMITED);
  const addNode: TestService['addNode'] = async ({ rate = UNLIMITED, databaseUrl = url } = {}) => {
    const own = await openApp({ ...place, databaseUrl });
    apps.push(own);
    return await serveOn(own, rate);
  };
  const startWorker = async () => {
    const worker = await startWorkers(app);
    workers.push(worker);
    return worker;
  };
  if (options.worker) await startWorker();
  const sdkFor: TestService['sdkFor'] = ({ apiKey, secretKey }, url = baseUrl) =>
    new Florin({ baseUrl: url, apiKey, secretKey, maxRetries: 0 });

  const addKey = async (merchantId: string, scopes: readonly string[]): Promise<TestMerchant> => {
    const storeId = await stores.createStore(app, {
      merchantId,
      name: `Store ${randomUUID()}`,
      channelType: 'api',
    });
    await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
    const key = await storeKeys.createKey(app, { merchantId, storeId, name: 'Key', validityDays: 0, scopes });
    return { merchantId, storeId, ...key, sdk: sdkFor(key) };
  };

  return {
    app,
    baseUrl,
    addNode,
    startWorker,
    sdkFor,
    createMerchant: async ({
      mode = 'sandbox',
      funds = MILLION,
      scopes = SCOPES,
      network: liveOn = 'erc20',
    } = {}) => {
      const merchant = await stores.createMerchant(app, { name: `Merchant ${randomUUID()}`, mode });
      if (mode === 'live') await openLiveAccount(app, merchant.merchantId, liveOn);
      if (mode === 'sandbox' && funds > 0n) {
        for (const currency of ['USDT', 'USDC'] as const) {
          for (const network of ['erc20', 'trc20', 'spl'] as const) {
            await fund(app, merchant, { currency, network, amount: Number(funds) });
          }
        }
      }
      return await addKey(merchant.merchantId, scopes);
    },
    addStore: (merchant) => addKey(merchant.merchantId, SCOPES),
    stop: async () => {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(workers.map((worker) => worker.stop(1_000)));
      await Promise.all(apps.map((one) => one.close()));
      await own?.drop();
    },
  };
}

import type { FastifyInstance } from 'fastify';
import packageJson from '../package.json' with { type: 'json' };
import { APPEND_ONLY_AUDIT_TABLES } from './audit/index.ts';
import {
  AccountKeyChecks,
  Accounts,
  type ChainRegistry,
  type LiveConfig,
  migrateSimulatedChain,
  openChains,
  openLive,
  type SimulatedTiming,
} from './chains/index.ts';
import { pinChains } from './chains/pinned/index.ts';
import { checkoutPages, checkoutRoutes } from './checkout/index.ts';
import { createConsole, renewLink, requestPageOf } from './console/index.ts';
import { customerRoutes } from './customers/index.ts';
import { docsPages, documentedExample, servicePage, type TryOutKey, troublePage } from './docs/index.ts';
import { eventRoutes, LiveEvents } from './events/index.ts';
import { invoiceRoutes } from './invoices/index.ts';
import { APPEND_ONLY_TABLES as APPEND_ONLY_LEDGER_TABLES, ledgerRoutes } from './ledger/index.ts';
import { type MailDeps, mailRoutes } from './mail/index.ts';
import {
  createRunningReader,
  createStateReader,
  healthPages,
  installationRoutes,
  localMetricsPage,
  metricsPage,
  observeChains,
  type Running,
  type ServiceState,
} from './monitoring/index.ts';
import {
  defaultPaymentMethods,
  type PaymentMethodDeps,
  paymentMethodRoutes,
} from './payment-methods/index.ts';
import { type PaymentDeps, unpayableFinder } from './payments/index.ts';
import { payoutAuthority } from './payouts/approvals/index.ts';
import { payoutErrors, payoutRoutes } from './payouts/index.ts';
import type { MailConfig, ProcessSetting } from './platform/config.ts';
import { Clock, connect, countConnections, type Db } from './platform/db/index.ts';
import {
  findServiceRole,
  grantServiceRights,
  maintainDays,
  migrate,
} from './platform/db/migrations/index.ts';
import { createHttpServer, openApiDocument, type Route } from './platform/http/index.ts';
import type { PublicPage } from './platform/http/pages/index.ts';
import type { Logger } from './platform/observability/index.ts';
import { Metrics } from './platform/observability/index.ts';
import { Vault } from './platform/secrets/index.ts';
import { createRates, type Rates } from './rates/index.ts';
import { refundAuthorities } from './refunds/approvals/index.ts';
import { claimPages, refundNames, refundRoutes } from './refunds/index.ts';
import { REQUEST_LOG_TABLE, RequestLog } from './request-log/index.ts';
import { type FrontOptions, sandboxPages, sandboxRoutes } from './sandbox/index.ts';
import { getMerchant } from './stores/index.ts';
import { createAuthentication } from './stores/keys/index.ts';
import { chargeNeeds, subscriptionPages, subscriptionRoutes } from './subscriptions/index.ts';
import type { FindAuthority } from './transfers/approvals/index.ts';
import { type FindUnpayable, type Screen, screen } from './transfers/recipients/index.ts';
import { TABLES_BY_DAY, type WebhookDeps, webhookRoutes } from './webhooks/index.ts';

/** Rows that the service adds and never changes. */
const APPEND_ONLY_TABLES = [...APPEND_ONLY_LEDGER_TABLES, ...APPEND_ONLY_AUDIT_TABLES];

/** API versions that a caller may request; the first is the current one. */
const API_VERSIONS = ['2026-04-20'] as const;
const ERROR_FORMATS = [payoutErrors];
const NONCE_POOL_SIZE = 4;
/** Connections of this process's workers, so that bursts of requests do not delay claims, nor the other way round. */
const CLAIM_POOL_SIZE = 4;
/** The request log writes one group at a time, on its own connection: a slow group holds up nothing else. */
const REQUEST_LOG_POOL = { poolSize: 1, statementMs: 3_000 };
/** Monitoring counts whole tables, on its own connection. */
const WATCH_POOL = { poolSize: 1, statementMs: 30_000 };

export interface AppOptions {
  databaseUrl: string;
  /** The simulated chains' database; the product's by default. */
  simchainUrl?: string | undefined;
  /** How fast the simulated chains are. */
  simchainTiming?: SimulatedTiming | undefined;
  masterKey: Buffer;
  log: Logger;
  poolSize: number;
  /** PostgreSQL's `lock_timeout` in milliseconds; by default 8,000. */
  lockTimeoutMs?: number | undefined;
  /** PostgreSQL's `statement_timeout` in milliseconds; by default 9,000. */
  statementMs?: number | undefined;
  /** Requests are not recorded. */
  withoutRequestLog?: boolean | undefined;
  /** How webhooks are sent; not needed in processes that send none. */
  webhooks?: { outbound: WebhookDeps['outbound'] & { close?(): void }; disableAfterSeconds: number };
  /** Additional certificate authorities (PEM) for reading exchange rates. */
  ratesCa?: string | undefined;
  /** The operator's mail server; without, mails of live merchants are not sent. */
  mailServer?: MailConfig | undefined;
  /** Networks of live merchants; without, their money does not move. */
  live?: LiveConfig | undefined;
}

const NO_WEBHOOKS: Required<AppOptions>['webhooks'] = {
  outbound: { post: () => Promise.reject(new Error('this process sends no webhooks')) },
  disableAfterSeconds: Number.POSITIVE_INFINITY,
};

/** The dependencies of all operations, opened once per process. */
export interface App extends WebhookDeps, PaymentDeps, PaymentMethodDeps, MailDeps {
  databaseUrl: string;
  simulatedDb: Db;
  /** For statements over whole periods, each of which may take a minute. */
  reportsDb: Db;
  /** For workers' claims and lease renewals, which commit asynchronously. */
  claimsDb: Db;
  metrics: Metrics;
  /** Undefined where requests are not recorded. */
  requestLog: RequestLog | undefined;
  /** What happens in stores, for keys that follow their events and pages that show them. */
  liveEvents: LiveEvents;
  /** State of the installation, read at most every 5 s. */
  readState: () => Promise<ServiceState>;
  /** Networks, processes and signer, read at most every 5 s. */
  readRunning: () => Promise<Running>;
  chains: ChainRegistry;
  /** Undefined where live money does not move. */
  live: Awaited<ReturnType<typeof openLiveMoney>> | undefined;
  screen: Screen;
  findUnpayable: FindUnpayable;
  findAuthority: FindAuthority;
  rates: Rates;
  close(): Promise<void>;
}

/** Migrates both schemas. @returns the names of the applied migrations */
export async function migrateAll(databaseUrl: string, simchainUrl: string | undefined): Promise<string[]> {
  const applied = await migrate(databaseUrl);
  applied.push(...(await migrateSimulatedChain(simchainUrl ?? databaseUrl)));
  await maintainDays(databaseUrl, [...TABLES_BY_DAY, REQUEST_LOG_TABLE]);
  await grantServiceRights(databaseUrl, APPEND_ONLY_TABLES);
  return applied;
}

/** A statement of a year reads millions of entries. */
const REPORTS_POOL = { poolSize: 2, statementMs: 60_000 };

/** The pools of one process, by what uses them. They connect with their first statement. */
async function openPools({ databaseUrl, log, ...options }: AppOptions) {
  const onError = (error: Error) => log.warn({ err: error }, 'an idle database connection broke');
  const { role, warning } = await findServiceRole(databaseUrl, APPEND_ONLY_TABLES);
  if (warning !== undefined) log.warn(warning);
  const { poolSize, lockTimeoutMs, statementMs, simchainUrl } = options;
  const pool = { url: databaseUrl, poolSize, lockTimeoutMs, statementMs, role, onError };
  const background = { ...pool, synchronousCommit: 'off' as const };
  return {
    db: connect(pool),
    fastDb: connect({ ...background, poolSize: NONCE_POOL_SIZE }),
    claimsDb: connect({ ...background, poolSize: CLAIM_POOL_SIZE }),
    watchDb: connect({ ...pool, ...WATCH_POOL }),
    requestLogDb: connect({ ...background, ...REQUEST_LOG_POOL }),
    reportsDb: connect({ ...pool, ...REPORTS_POOL }),
    // In a separate database the simulated chain needs no service role.
    simulatedDb: connect(simchainUrl === undefined ? pool : { url: simchainUrl, poolSize, onError }),
  };
}

type Pools = Awaited<ReturnType<typeof openPools>>;

function watchPools(metrics: Metrics, pools: Pools): void {
  const { db, fastDb, claimsDb, requestLogDb, reportsDb, simulatedDb } = pools;
  const named = { main: db, nonces: fastDb, claims: claimsDb, request_log: requestLogDb, reports: reportsDb };
  for (const [name, pool] of Object.entries({ ...named, simulated_chains: simulatedDb }))
    metrics.watchPool(name, () => countConnections(pool));
}

/** Opens pools, clock, secrets and chains. @throws WrongMasterKey, OtherChain */
export async function openApp(options: AppOptions): Promise<App> {
  const { databaseUrl, log } = options;
  const pools = await openPools(options);
  const { db, watchDb, requestLogDb, ...others } = pools;
  const clock = new Clock();
  const { webhooks = NO_WEBHOOKS } = options;
  const rates = createRates({ db, clock, log, ca: options.ratesCa });
  const live = options.live && (await openLiveMoney(options.live, { db, clock, log }));
  let requestLog: RequestLog | undefined;
  const close = async () => {
    await (requestLog?.close() ?? requestLogDb.destroy());
    clock.stop();
    webhooks.outbound.close?.();
    live?.keyChecks.stop();
    await live?.chains.close();
    await rates.close();
    await Promise.all([db, watchDb, ...Object.values(others)].map((pool) => pool.destroy()));
  };
  try {
    await clock.follow(db);
    if (options.live !== undefined) await pinChains(db, options.live);
    const vault = await Vault.unlock(db, options.masterKey, clock.nowMs());
    const merchantNow = async (merchantId: string) =>
      clock.nowSeconds() + (await getMerchant(db, merchantId)).clockOffset;
    const metrics = new Metrics(packageJson.version);
    watchPools(metrics, pools);
    if (options.withoutRequestLog !== true)
      requestLog = new RequestLog({ db: requestLogDb, vault, log, metrics });
    await live?.accounts.load();
    const liveNetworks = live && { chains: live.chains, accounts: live.accounts };
    const registry = openChains({
      simulatedDb: others.simulatedDb,
      merchantNow,
      timing: options.simchainTiming,
      ...(liveNetworks && { live: liveNetworks }),
    });
    const chains = observeChains(registry, metrics);
    const platform = { db, ...others, clock, vault, log, metrics };
    return {
      ...platform,
      ...webhooks,
      requestLog,
      liveEvents: new LiveEvents(platform),
      readState: createStateReader(watchDb, clock),
      readRunning: createRunningReader({ db: watchDb, clock, live }),
      databaseUrl,
      chains,
      live,
      chargeNeeds: chargeNeeds({ rates }),
      screen,
      findUnpayable: unpayableFinder(chains),
      findAuthority,
      rates,
      mailServer: options.mailServer,
      renewLink: (tx, cause) => renewLink(tx, cause, clock.nowMs()),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const findAuthority: FindAuthority = async (db, merchantId, group) =>
  (await payoutAuthority(db, merchantId, group)) ??
  (await refundAuthorities.refundAuthority(db, merchantId, group));

async function openLiveMoney(config: LiveConfig, { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>) {
  const accounts = new Accounts(db);
  const chains = await openLive(config, { db, accounts, log, nowMs: () => clock.nowMs() });
  const { ethereum } = chains;
  return { ethereum, chains, accounts, keyChecks: new AccountKeyChecks(accounts, chains, log) };
}

/** All signed API routes. */
export function apiRoutes(app: App, publicUrl: () => string = () => ''): Route[] {
  return [
    ...payoutRoutes(app),
    ...ledgerRoutes(app, refundNames),
    ...eventRoutes(app, app.liveEvents),
    ...webhookRoutes(app),
    ...customerRoutes(app, defaultPaymentMethods),
    ...mailRoutes(app, publicUrl),
    ...paymentMethodRoutes(app),
    ...checkoutRoutes(app, publicUrl),
    ...refundRoutes(app, publicUrl),
    ...subscriptionRoutes(app, publicUrl),
    ...invoiceRoutes(app),
    ...sandboxRoutes(app),
  ];
}

export interface ServerOptions {
  publicUrl: () => string;
  rate: { perSecond: number; burst: number };
  tls?: { certFile: string; keyFile: string } | undefined;
  /** A proxy in front reports callers' addresses. */
  trustedProxy?: boolean;
  /** The sandbox's own key, with which the API reference sends requests. */
  tryOutKey?: TryOutKey | undefined;
  /** The sandbox's own store, which the front page and the webhook inbox show. */
  sandbox?: Omit<FrontOptions, 'version'> | undefined;
  /** Metrics are served elsewhere, or a proxy hides which callers are local. */
  withoutMetrics?: boolean;
  /** Validates every response against its schema, for tests. */
  checkAnswers?: boolean;
  /** Settings of this process, for the operator to read. */
  processSettings?: readonly ProcessSetting[] | undefined;
}

/** All unsigned pages. */
export function publicPages(app: App, routes: readonly Route[], options: ServerOptions): PublicPage[] {
  return [
    ...healthPages(app, 'status'),
    ...(options.withoutMetrics ? [] : [localMetricsPage(app)]),
    openApiPage(routes, options.publicUrl),
    ...claimPages(app),
    ...docsPages({ ...options, routes, clock: app.clock }),
    ...checkoutPages(app, options.publicUrl),
    ...subscriptionPages(app),
    ...sandboxPages(app, options.sandbox && { ...options.sandbox, version: packageJson.version }),
    ...(options.sandbox === undefined ? [servicePage()] : []),
  ];
}

export function createApiServer(app: App, options: ServerOptions): FastifyInstance {
  const routes = apiRoutes(app, options.publicUrl);
  const { pages, permitUser, openApi, ...people } = createConsole(app, {
    publicUrl: options.publicUrl,
    version: API_VERSIONS[0],
    installationRoutes: installationRoutes(app),
    liveEvents: app.liveEvents,
    processSettings: options.processSettings,
  });
  return createHttpServer({
    ...openApi(routes, createAuthentication(app)),
    permitUser,
    console: people,
    pages: [...publicPages(app, routes, options), ...pages],
    clock: app.clock,
    log: app.log,
    observer: app.metrics,
    recorder: app.requestLog,
    requestPage: app.requestLog && ((id) => requestPageOf(options.publicUrl(), id)),
    versions: API_VERSIONS,
    errorFormats: ERROR_FORMATS,
    errorPage: troublePage,
    rate: options.rate,
    trustedProxy: options.trustedProxy ?? false,
    publicUrl: options.publicUrl,
    checkAnswers: options.checkAnswers ?? false,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
  });
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The pages for monitoring on a separate address. */
export function monitoringPages(app: App): PublicPage[] {
  return [...healthPages(app, 'checks'), metricsPage(app)];
}

function openApiPage(routes: readonly Route[], publicUrl: () => string): PublicPage {
  return {
    path: '/openapi.json',
    handle: async () => ({
      status: 200,
      type: JSON_TYPE,
      body: JSON.stringify(describeApi(routes, publicUrl())),
    }),
  };
}

export function describeApi(routes: readonly Route[], serverUrl: string): object {
  return openApiDocument(routes, {
    title: 'Florin',
    version: API_VERSIONS[0],
    description: [
      'Payments in USDT and USDC on Ethereum, Tron and Solana: signed JSON requests, payout batches, ledger.',
      'Every request is signed: HMAC-SHA256 of `<timestamp>.<nonce>.<raw body>` with the secret key.',
      `Every error code has [a page](${serverUrl}/docs/errors) with its cause and what to do. [Guides and recipes](${serverUrl}/docs) say how calls go together.`,
    ].join('\n\n'),
    serverUrl,
    errorFormats: ERROR_FORMATS,
    exampleOf: documentedExample,
  });
}

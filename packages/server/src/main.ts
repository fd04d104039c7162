import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { groupOfPostgres, type Postgres, startPostgres } from '@florin/embedded-postgres';
import { builtPages } from '@florin/pages';
import type { FastifyInstance } from 'fastify';
import {
  type App,
  type AppOptions,
  createApiServer,
  migrateAll,
  monitoringPages,
  openApp,
  type ServerOptions,
} from './app.ts';
import { collectGarbageOfStart } from './collect-garbage.ts';
import { links } from './console/accounts/index.ts';
import { linkOf } from './console/index.ts';
import { DataFolder } from './data-folder.ts';
import { listen } from './listening.ts';
import { checkLiveInSandbox, liveConfig } from './live-config.ts';
import { listenForMonitoring, type MonitoringListener } from './monitoring/index.ts';
import { type Config, ConfigError } from './platform/config.ts';
import { NIL_ID } from './platform/db/ids/index.ts';
import { codeOf } from './platform/db/index.ts';
import type { JobWorker } from './platform/jobs/index.ts';
import { createLogger, type Logger } from './platform/observability/index.ts';
import { createOutbound } from './platform/outbound/index.ts';
import {
  isSeeded,
  noteStoryUntil,
  type SandboxCredentials,
  seedSandbox,
  tellStory,
} from './sandbox/index.ts';
import { decodeId } from './tenancy/index.ts';
import { startWorkers } from './workers.ts';

/** Grace period for requests and jobs in flight; the whole stop takes at most ten seconds. */
const GRACE_MS = 4_000;
/** The `nice` value of workers: a third of a server's CPU weight. */
const WORK_NICENESS = 5;
const PLACEHOLDER_URL = 'http://127.0.0.1';

/** A process of the service that runs until it is stopped. */
export interface Running {
  baseUrl: string | undefined;
  /** Finishes work in flight, releases leases and closes everything that this process opened. */
  stop(): Promise<void>;
}

export interface RunningSandbox extends Running {
  baseUrl: string;
  credentials: SandboxCredentials;
  credentialsFile: string;
  /** The data directory of the embedded PostgreSQL; undefined with an operator's database. */
  databaseFolder: string | undefined;
  firstStart: boolean;
  /** Signs the owner of the sandbox in to the console, once. */
  consoleLink: string;
}

interface Parts {
  server?: FastifyInstance | undefined;
  worker?: JobWorker | undefined;
  app?: App | undefined;
  postgres?: Postgres | undefined;
  monitoring?: MonitoringListener | undefined;
  story?: { stop(): Promise<void> } | undefined;
}

/** Stops parts before their dependencies: server and worker, monitoring, pools, database. */
async function stopParts({ server, worker, app, postgres, monitoring, story }: Parts): Promise<void> {
  await story?.stop();
  await Promise.all([server && closeServer(server), worker?.stop(GRACE_MS)]);
  await monitoring?.close();
  await app?.close();
  await postgres?.stop();
}

/** Answers requests in flight, then cuts connections that are still open after the grace period. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(cut);
}

/** Runs `start`; if it fails, closes the parts that it has opened. */
async function orClose<T>(parts: Parts, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await stopParts(parts);
    throw error;
  }
}

/**
 * Starts the whole sandbox in one process: embedded PostgreSQL (or the given database), migrations, simulated chains, a
 * seeded merchant, API and workers. A second start keeps all data.
 */
export async function startSandbox(config: Config): Promise<RunningSandbox> {
  checkLiveInSandbox(config);
  const folder = new DataFolder(config.dataDir);
  folder.create(await groupOfPostgres(folder.file('postgres')));
  const parts: Parts = {};
  return await orClose(parts, async () => {
    if (config.databaseUrl === undefined) {
      const postgresLog = createLogger(config.logLevel);
      parts.postgres = await startPostgres({
        dataDir: folder.file('postgres'),
        onLog: (line) => postgresLog.debug({ postgres: line }, 'postgres'),
      });
    }
    const databaseUrl = config.databaseUrl ?? parts.postgres?.url ?? '';
    const masterKey = config.masterKey ?? folder.ensureMasterKey();
    const log = openLog(config, { databaseUrl, masterKey });
    await migrateAll(databaseUrl, config.simchainUrl);
    parts.app = await openApp(appOptions(config, { databaseUrl, masterKey, log }));
    const known = folder.readCredentials();
    startLive(parts.app);
    const isFresh = known === undefined && !(await isSeeded(parts.app));
    // Seeded before the server accepts requests.
    const seeded = await seedSandbox(parts.app, known?.base_url ?? PLACEHOLDER_URL, known);
    const baseUrl = await startServer(parts, config, ownPages(seeded, folder.commandOption()));
    const credentials = { ...seeded, base_url: baseUrl };
    // Before the credentials, by which the next start knows that this is no first one.
    if (isFresh && config.story) folder.noteStory(false);
    folder.writeCredentials(credentials);
    folder.writeRunning({
      pid: process.pid,
      base_url: baseUrl,
      database_url: databaseUrl,
      simchain_url: config.simchainUrl ?? null,
    });
    parts.worker = await startWorkers(parts.app);
    collectGarbageOfStart(log);
    const consoleLink = await makeConsoleLink(parts.app, credentials);
    // The last step: nothing of the start waits behind it.
    if (config.story && folder.hasStoryToTell) parts.story = beginStory(parts, folder, credentials);
    return {
      baseUrl,
      credentials,
      credentialsFile: folder.credentialsFile,
      databaseFolder: parts.postgres?.dataDir,
      firstStart: known === undefined,
      consoleLink,
      stop: async () => {
        await stopParts(parts);
        folder.removeRunning();
      },
    };
  });
}

/** Tells the sandbox's story behind the first start. A start that follows goes on with one that was cut off. */
function beginStory({ app, server }: Parts, folder: DataFolder, credentials: SandboxCredentials) {
  if (app === undefined || server === undefined) throw new Error('the story needs the API');
  let isStopped = false;
  const merchantId = decodeId('merchant', credentials.merchant_id) ?? NIL_ID;
  const tell = async () => {
    // `startSandbox` returns first.
    await untilNextTurn();
    const isWhole = await tellStory({
      credentials,
      inject: (request) => server.inject(request),
      nowSeconds: () => app.clock.nowSeconds(),
      noteUntil: (seconds) => noteStoryUntil(app.db, merchantId, seconds),
      isStopped: () => isStopped,
    });
    if (isWhole) folder.noteStory(true);
  };
  const told = tell().catch((error: unknown) =>
    app.log.warn({ err: error }, 'the story of the sandbox is not whole'),
  );
  const stop = async () => {
    isStopped = true;
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
  };
  return { stop };
}

/** A link that signs the owner of the sandbox in, once. */
async function makeConsoleLink(app: App, { merchant_id, base_url }: SandboxCredentials): Promise<string> {
  const { token } = await links.makeSandboxOwner(app, decodeId('merchant', merchant_id) ?? NIL_ID);
  return linkOf(base_url, token);
}

/** The process's logger, which redacts the secrets that the process was started with. */
function openLog(config: Config, opened: { databaseUrl: string; masterKey: Buffer }): Logger {
  const urls = [opened.databaseUrl, config.simchainUrl].filter((url) => url !== undefined);
  const passwords = [...urls.map((url) => new URL(url).password), config.mail?.password ?? ''];
  const keys = (['hex', 'base64', 'base64url'] as const).map((form) => opened.masterKey.toString(form));
  return createLogger(config.logLevel, { secrets: [...passwords, ...keys] });
}

type OwnPages = Pick<ServerOptions, 'tryOutKey' | 'sandbox'>;

/** Options of the pages that the sandbox shows to browsers on its machine. */
function ownPages(
  { merchant_id, store_id, api_key, secret_key }: SandboxCredentials,
  folderOption: string,
): OwnPages {
  const [merchantId, storeId] = [decodeId('merchant', merchant_id), decodeId('store', store_id)];
  const isKnown = merchantId !== undefined && storeId !== undefined;
  return {
    tryOutKey: { apiKey: api_key, secretKey: secret_key },
    sandbox: isKnown ? { owner: { merchantId, storeId }, folderOption } : undefined,
  };
}

async function startServer(parts: Parts, config: Config, pages: OwnPages = {}): Promise<string> {
  let publicUrl = PLACEHOLDER_URL;
  const { app } = parts;
  if (app === undefined) throw new Error('the server must start after the database');
  checkTlsFiles(config);
  const { rate, tls, trustedProxy } = config;
  const withoutMetrics = config.metrics !== undefined || trustedProxy;
  const own = { rate, tls, trustedProxy, withoutMetrics, processSettings: config.described, ...pages };
  const server = createApiServer(app, { publicUrl: () => publicUrl, ...own });
  parts.server = server;
  publicUrl = await listen(server, config);
  preparePages(app);
  await startMonitoring(parts, config);
  return publicUrl;
}

/** Reads blocks of live networks on, and compares the keys of accounts with the signer. */
function startLive({ live }: Pick<App, 'live'>): void {
  live?.chains.start();
  live?.keyChecks.start();
}

/** Builds the pages in the background, before the first reader comes. */
function preparePages({ log }: Pick<App, 'log'>): void {
  builtPages().catch((error: unknown) => log.error({ err: error }, 'the pages cannot be built'));
}

async function startMonitoring(parts: Parts, { metrics }: Config): Promise<void> {
  if (metrics === undefined || parts.app === undefined) return;
  try {
    parts.monitoring = await listenForMonitoring(monitoringPages(parts.app), metrics);
  } catch (error) {
    const { host, port } = metrics;
    throw new ConfigError(`FLORIN_METRICS_PORT ${port} on ${host} cannot be used: ${codeOf(error)}.`);
  }
}

function checkTlsFiles({ tls }: Config): void {
  const missing = Object.values(tls ?? {}).find((file) => !existsSync(file));
  if (missing !== undefined) throw new ConfigError(`The TLS file ${missing} does not exist.`);
}

/** The settings that a production process requires. @throws ConfigError */
function productionDatabase(config: Config): { databaseUrl: string; masterKey: Buffer } {
  const { databaseUrl, masterKey } = config;
  if (databaseUrl === undefined) {
    throw new ConfigError(
      'DATABASE_URL (--database-url) is required: the address of a PostgreSQL 15 or newer.',
    );
  }
  if (masterKey === undefined) {
    throw new ConfigError(
      'FLORIN_MASTER_KEY (--master-key) is required: 32 bytes in hex (openssl rand -hex 32).',
    );
  }
  return { databaseUrl, masterKey };
}

async function openProduction(config: Config): Promise<App> {
  const { databaseUrl, masterKey } = productionDatabase(config);
  const log = openLog(config, { databaseUrl, masterKey });
  await migrateAll(databaseUrl, config.simchainUrl);
  return await openApp(appOptions(config, { databaseUrl, masterKey, log }));
}

function appOptions(
  config: Config,
  opened: Pick<AppOptions, 'databaseUrl' | 'masterKey' | 'log'>,
): AppOptions {
  const { simchainUrl, poolSize, outbound, webhookDisableAfter } = config;
  const webhooks = { outbound: createOutbound(outbound), disableAfterSeconds: webhookDisableAfter };
  return {
    ...opened,
    simchainUrl,
    poolSize,
    webhooks,
    ratesCa: outbound.ca,
    mailServer: config.mail,
    live: liveConfig(config),
    withoutRequestLog: !config.requestLog,
  };
}

/** Starts an API node on the operator's database. Run as many as you like. */
export async function serve(config: Config): Promise<Running> {
  const parts: Parts = {};
  return await orClose(parts, async () => {
    parts.app = await openProduction(config);
    startLive(parts.app);
    const baseUrl = await startServer(parts, config);
    return { baseUrl, stop: () => stopParts(parts) };
  });
}

/**
 * Starts a worker on the operator's database. Run as many as you like. On a shared machine servers have CPU priority, since
 * merchants and payers wait for their responses.
 */
export async function work(config: Config): Promise<Running> {
  setPriority(WORK_NICENESS);
  const parts: Parts = {};
  return await orClose(parts, async () => {
    parts.app = await openProduction(config);
    startLive(parts.app);
    parts.worker = await startWorkers(parts.app);
    await startMonitoring(parts, config);
    return { baseUrl: undefined, stop: () => stopParts(parts) };
  });
}

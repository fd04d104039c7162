import { type App, migrateAll, openApp } from './app.ts';
import { DataFolder } from './data-folder.ts';
import { explain } from './operator/explain.ts';
import { historyCommands } from './operator/history.ts';
import { approverCommands, keyCommands, merchantCommands, storeCommands } from './operator/merchants.ts';
import { networkCommands } from './operator/networks.ts';
import { paymentCommands } from './operator/payments.ts';
import { payoutCommands } from './operator/payouts.ts';
import { refundCommands } from './operator/refunds.ts';
import { riskCommands, settingCommands } from './operator/settings.ts';
import {
  CONFIG_OPTIONS,
  type Config,
  ConfigError,
  type ConfigFlags,
  type ConfigKey,
  processEnvironment,
  readConfig,
} from './platform/config.ts';
import { Fail } from './platform/fail.ts';
import { createLogger } from './platform/observability/index.ts';
import { type VerifyReport, verifyLedger } from './reconciliation/index.ts';

/*
 * The operator's face of the service: what the `florin` command does on the database itself, without the API. Ids come
 * in and go out as callers see them (`mer_…`); the message of `Fail` and `ConfigError` is for the person who asked.
 */

const OPERATOR_POOL_SIZE = 4;
/** `ledger verify` sums whole tables, and a person who waits can stop it. */
const OPERATOR_STATEMENT_MS = 600_000;
const START_FIRST =
  'No sandbox is running here and DATABASE_URL is not set: start it first (npm start), or name your database.';

/** The database that a command works on: the given one, else that of the sandbox which runs on the data folder. */
function locate(config: Config): { databaseUrl: string; simchainUrl: string | undefined; masterKey: Buffer } {
  const folder = new DataFolder(config.dataDir);
  const running = folder.readRunning();
  const databaseUrl =
    config.databaseUrl ?? (running && isAlive(running.pid) ? running.database_url : undefined);
  if (databaseUrl === undefined) throw new ConfigError(START_FIRST);
  const masterKey = config.masterKey ?? folder.readMasterKey();
  if (masterKey === undefined) {
    throw new ConfigError('FLORIN_MASTER_KEY (--master-key) is required for a database of your own.');
  }
  const simchainUrl = config.simchainUrl ?? running?.simchain_url ?? undefined;
  return { databaseUrl, simchainUrl, masterKey };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Opens the operator's commands on the database that the configuration leads to. @throws ConfigError */
export async function openOperator(config: Config) {
  const place = locate(config);
  const log = createLogger(config.logLevel);
  const app: App = await openApp({
    ...place,
    log,
    poolSize: OPERATOR_POOL_SIZE,
    statementMs: OPERATOR_STATEMENT_MS,
  });
  return {
    merchants: merchantCommands(app),
    stores: storeCommands(app),
    keys: keyCommands(app),
    approvers: approverCommands(app),
    payouts: payoutCommands(app),
    payments: paymentCommands(app),
    refunds: refundCommands(app),
    settings: settingCommands(app),
    risk: riskCommands(app),
    networks: networkCommands(app),
    ledger: {
      /** Compares entries, balances and chains. `onProgress` is called after each merchant. */
      verify: (onProgress: (done: number, total: number) => void): Promise<VerifyReport> =>
        verifyLedger(app, onProgress),
      ...historyCommands(app),
    },
    close: () => app.close(),
  };
}
export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** Brings the schemas of the given database up to date. @returns the names of the migrations applied now */
export async function migrateDatabase(config: Config): Promise<string[]> {
  if (config.databaseUrl === undefined)
    throw new ConfigError('DATABASE_URL (--database-url) is required to migrate.');
  return await migrateAll(config.databaseUrl, config.simchainUrl);
}

export { type Running, type RunningSandbox, serve, startSandbox, work } from './main.ts';
export {
  CONFIG_OPTIONS,
  type Config,
  ConfigError,
  type ConfigFlags,
  type ConfigKey,
  DataFolder,
  explain,
  Fail,
  processEnvironment,
  readConfig,
};

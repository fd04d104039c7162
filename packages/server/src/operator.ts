import { type App, migrateAll, openApp } from './app.ts';
import { DataFolder } from './data-folder.ts';
import { liveConfig } from './live-config.ts';
import { approvalCommands } from './operator/approvals.ts';
import { auditCommands } from './operator/audit.ts';
import { auditOperations } from './operator/audited.ts';
import { type ContractLine, contractCommands } from './operator/contracts.ts';
import { type DeployOrder, type DeployReport, deployContracts } from './operator/deploy-contracts.ts';
import { type DoctorCheck, examine } from './operator/doctor.ts';
import { explain } from './operator/explain.ts';
import { historyCommands } from './operator/history.ts';
import { type LiveCheck, examineLive as lookLive } from './operator/live-doctor.ts';
import {
  approverCommands,
  installationApproverCommands,
  keyCommands,
  merchantCommands,
  storeCommands,
} from './operator/merchants.ts';
import { checkNetworksFile, type NetworksReport, networkCommands } from './operator/networks.ts';
import { paymentCommands } from './operator/payments.ts';
import { payoutCommands } from './operator/payouts.ts';
import { refundCommands } from './operator/refunds.ts';
import { requestCommands } from './operator/requests.ts';
import { roleCommands } from './operator/roles.ts';
import {
  cancelRotation,
  type RotationOrder,
  type RotationReport,
  rotateWallet,
  type ShownOwnerCall,
} from './operator/rotate-wallet.ts';
import { riskCommands, settingCommands } from './operator/settings.ts';
import { treasuryCommands } from './operator/treasury.ts';
import { userCommands } from './operator/users.ts';
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
 * The operator's interface: `florin` commands that work on the database directly, without the API. Ids have their public
 * form (`mer_…`); the messages of `Fail` and `ConfigError` are shown to the operator.
 */

const OPERATOR_POOL_SIZE = 4;
/** `ledger verify` sums whole tables; the operator can interrupt it. */
const OPERATOR_STATEMENT_MS = 600_000;
const START_FIRST =
  'No sandbox is running here and DATABASE_URL is not set: start the sandbox (npm start), or set DATABASE_URL.';

/** The database of a command: the configured one, else that of the running sandbox of the data folder. */
function locate(config: Config): { databaseUrl: string; simchainUrl: string | undefined; masterKey: Buffer } {
  const folder = new DataFolder(config.dataDir);
  const databaseUrl = folder.databaseUrlOf(config);
  if (databaseUrl === undefined) throw new ConfigError(START_FIRST);
  const masterKey = config.masterKey ?? folder.readMasterKey();
  if (masterKey === undefined) {
    throw new ConfigError('FLORIN_MASTER_KEY (--master-key) is required for a database of your own.');
  }
  const simchainUrl = config.simchainUrl ?? folder.readRunning()?.simchain_url ?? undefined;
  return { databaseUrl, simchainUrl, masterKey };
}

async function openDatabase(config: Config): Promise<App> {
  return await openApp({
    ...locate(config),
    log: createLogger(config.logLevel),
    poolSize: OPERATOR_POOL_SIZE,
    statementMs: OPERATOR_STATEMENT_MS,
    live: liveConfig(config),
    mailServer: config.mail,
  });
}

/** What is missing before the first payment of real money. */
export const examineLive = (config: Config): Promise<LiveCheck[]> => lookLive(config, openDatabase);

/** Opens the operator's commands on the configured database; what they change is in the audit log. @throws ConfigError */
export async function openOperator(config: Config) {
  const app = await openDatabase(config);
  const groups = {
    merchants: merchantCommands(app),
    stores: storeCommands(app),
    keys: keyCommands(app),
    approvers: approverCommands(app),
    installationApprovers: installationApproverCommands(app),
    approvals: approvalCommands(
      app,
      config.publicUrl ?? new DataFolder(config.dataDir).readRunning()?.base_url,
    ),
    payouts: payoutCommands(app),
    payments: paymentCommands(app),
    refunds: refundCommands(app),
    requests: requestCommands(app),
    audit: auditCommands(app),
    users: userCommands(app, config.publicUrl ?? new DataFolder(config.dataDir).readRunning()?.base_url),
    roles: roleCommands(app),
    settings: settingCommands(app),
    risk: riskCommands(app),
    networks: networkCommands(app),
    treasury: treasuryCommands(app),
    wallets: {
      /** Gives a live merchant a new hot wallet; interrupted, it goes on where it was. */
      rotate: (order: RotationOrder): Promise<RotationReport> => rotateWallet(app, order),
      /** Opens the old wallet again, until the signer has begun the next one. */
      cancelRotation: (order: { merchant: string }): Promise<RotationReport> => cancelRotation(app, order),
    },
    contracts: {
      ...contractCommands(app),
      /** Puts our shared contracts on the chain where they are missing. */
      deploy: (order: DeployOrder): Promise<DeployReport> => deployContracts(app, order, config.networksFile),
    },
    ledger: {
      /** Compares entries, balances and chains. `onProgress` is called after each merchant. */
      verify: (onProgress: (done: number, total: number) => void): Promise<VerifyReport> =>
        verifyLedger(app, onProgress),
      ...historyCommands(app),
    },
  };
  return { ...auditOperations(app, groups), close: () => app.close() };
}
export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** Migrates the configured database. @returns the names of the applied migrations */
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
  type ContractLine,
  checkNetworksFile,
  DataFolder,
  type DeployReport,
  type DoctorCheck,
  examine,
  explain,
  Fail,
  type LiveCheck,
  type NetworksReport,
  processEnvironment,
  type RotationReport,
  readConfig,
  type ShownOwnerCall,
};

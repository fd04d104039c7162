import { formatTokens, NETWORKS, type Network } from '@florin/contract/money';
import Type from 'typebox';
import { NATIVE_COINS } from '../chains/port/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { Fail, invalidParam } from '../platform/fail.ts';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { withCsv } from '../platform/http/lists/index.ts';
import {
  type FailingCursor,
  type FailingJob,
  listFailing,
  runFailingNow,
} from '../platform/jobs/failing/index.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { nativeText } from './native-text.ts';
import type { Running } from './running.ts';
import { runningRoute } from './running-routes.ts';
import type { ServiceState } from './state.ts';
import type { TreasuryDeps } from './treasury.ts';
import { treasuryRoutes } from './treasury-routes.ts';

const PATH = '/console/api/operator';
const common = { scope: 'read' as const, tag: 'Operator' };
const MS = 1000;
const PAGE_MAX = 100;
const Time = Type.Union([Type.String(), Type.Null()]);
const Count = Type.Integer();

const NetworkSchema = Type.Object({
  network: Type.String(),
  stops: Type.Array(
    Type.Object({
      what: Type.String({
        description: '`sending`: nothing is sent; `early_credit`: deposits wait for final blocks.',
      }),
      merchant_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: all live merchants.' }),
      stopped_at: Time,
      reason: Type.String(),
    }),
  ),
  tank: Type.Union([
    Type.Object({
      address: Type.String(),
      amount: Type.String({ description: "In the network's own coin." }),
      coin: Type.String(),
      read_at: Time,
    }),
    Type.Null(),
  ]),
  addresses_left: Type.Union([Count, Type.Null()], {
    description: 'Deposit addresses of the merchant with the fewest; null where they need none ahead.',
  }),
  refunds_short: Type.Integer({ description: 'Refunds that wait for coins.' }),
});

const InstallationSchema = Type.Object({
  at: Time,
  workers: Type.Integer({ description: 'Connected workers of all processes.' }),
  history_changed: Type.Boolean({
    description: 'Payouts wait, as the database is a copy or has one that sends.',
  }),
  networks: Type.Array(NetworkSchema),
  transfers: Type.Array(Type.Object({ status: Type.String(), count: Count })),
  oldest_queued_at: Time,
  undecided: Type.Array(Type.Object({ status: Type.String(), count: Count, oldest_at: Time })),
  approvals_waiting: Type.Object({ payouts: Count, refunds: Count }),
  deliveries: Type.Array(Type.Object({ status: Type.String(), count: Count })),
  jobs: Type.Array(
    Type.Object({
      kind: Type.String(),
      waiting: Count,
      late: Type.Integer({ description: 'Due for more than 5 s.' }),
      failing: Type.Integer({ description: 'Failed three times or more in a row.' }),
    }),
  ),
  imbalances: Type.Array(Type.Object({ currency: Type.String(), amount: Type.String() }), {
    description: 'Liabilities less custody: anything but 0 is an alarm.',
  }),
  last_comparison: Type.Union([
    Type.Object({ at: Time, differences: Count, unseen: Count, surpluses: Count }),
    Type.Null(),
  ]),
});

const secondsOf = (seconds: number | bigint | null | undefined) =>
  seconds === null || seconds === undefined ? null : isoOf(Number(seconds) * MS);

const presentNetwork = (network: Network, { stops, tanks, pools, refunds }: ServiceState) => {
  const tank = tanks.find((one) => one.network === network);
  const pool = pools.find((one) => one.network === network);
  return {
    network,
    stops: stops
      .filter((stop) => stop.network === network)
      .map(({ what, merchant_id, stopped_at, reason }) => ({
        what,
        merchant_id: merchant_id === NIL_ID ? null : encodeId('merchant', merchant_id),
        stopped_at: secondsOf(stopped_at),
        reason,
      })),
    tank:
      tank === undefined
        ? null
        : {
            address: tank.sender,
            amount: nativeText(network, tank.native),
            coin: NATIVE_COINS[network].name,
            read_at: secondsOf(tank.readAt),
          },
    addresses_left: pool === undefined ? null : Number(pool.left),
    refunds_short: refunds.reduce((sum, one) => sum + (one.network === network ? one.count : 0), 0),
  };
};

const presentState = (state: ServiceState) => ({
  at: isoOf(state.atMs),
  workers: state.workers,
  history_changed: state.historyChanged,
  networks: NETWORKS.map((network) => presentNetwork(network, state)),
  transfers: [...state.transfers.byStatus].map(([status, count]) => ({ status, count })),
  oldest_queued_at: secondsOf(state.transfers.queuedSince),
  undecided: state.transfers.undecided.map(({ status, count, oldestCreatedAt }) => ({
    status,
    count,
    oldest_at: secondsOf(oldestCreatedAt),
  })),
  approvals_waiting: state.approvals,
  deliveries: [...state.webhooks.undelivered].map(([status, count]) => ({ status, count })),
  jobs: state.jobs.map(({ kind, waiting, late, failing }) => ({ kind, waiting, late, failing })),
  imbalances: [...state.imbalances].map(([currency, units]) => ({ currency, amount: formatTokens(units) })),
  last_comparison: state.lastReport
    ? {
        at: isoOf(state.lastReport.at_ms),
        differences: state.lastReport.differences,
        unseen: state.lastReport.unseen,
        surpluses: state.lastReport.surpluses ?? 0,
      }
    : null,
});

const JobSchema = Type.Object({
  job_id: Type.String(),
  merchant_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: of the installation.' }),
  kind: Type.String(),
  attempts: Type.Integer({ description: 'Runs that failed, in a row.' }),
  last_error: Type.String(),
  due_at: Time,
});

const presentJob = ({ merchantId, jobId, kind, attempts, lastError, dueAtMs }: FailingJob) => ({
  job_id: jobId,
  merchant_id: merchantId === NIL_ID ? null : encodeId('merchant', merchantId),
  kind,
  attempts,
  last_error: lastError,
  due_at: isoOf(dueAtMs),
});

/** @throws Fail `invalid_param` */
function cursorOf(text: string | undefined): FailingCursor | undefined {
  if (text === undefined) return undefined;
  const [, attempts, jobId = ''] = /^([1-9]\d{0,8}) (\S+)$/.exec(text) ?? [];
  if (UUID.test(jobId)) return { attempts: Number(attempts), jobId };
  throw invalidParam('starting_after', 'starting_after must be the attempts and the id of a job.');
}

interface InstallationDeps extends TreasuryDeps {
  readState: () => Promise<ServiceState>;
  readRunning: () => Promise<Running>;
}

const jobRoutes = ({ db, clock }: Pick<InstallationDeps, 'db' | 'clock'>): Route[] => [
  withCsv(
    defineRoute({
      ...common,
      method: 'GET',
      path: `${PATH}/jobs`,
      operationId: 'listFailingJobs',
      summary: 'Jobs whose last run failed, those first that failed most often',
      permission: { name: 'see_installation' },
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
        starting_after: Type.Optional(
          Type.String({
            maxLength: 60,
            description:
              '`attempts` and `job_id` of the last job of the page before, with a space between them.',
          }),
        ),
      }),
      answer: Type.Object({ data: Type.Array(JobSchema), has_more: Type.Boolean() }),
      refusals: [],
      handle: async ({ query: { limit = PAGE_MAX, starting_after: text } }) => {
        const rows = await listFailing(db, { limit: limit + 1, after: cursorOf(text) });
        return { body: { data: rows.slice(0, limit).map(presentJob), has_more: rows.length > limit } };
      },
    }),
    'attempts',
    'job_id',
  ),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/jobs/{job_id}/run`,
    operationId: 'runFailingJob',
    summary: 'Run a failing job now, and not when its turn comes',
    permission: { name: 'operate', isProofFresh: true },
    params: Type.Object({ job_id: Type.String() }),
    body: Type.Object({
      merchant_id: Type.Union([Type.String(), Type.Null()], { description: 'As the list has it.' }),
    }),
    answer: Type.Object({ done: Type.Boolean() }),
    refusals: ['conflict'],
    handle: async ({ params: { job_id: jobId }, body: { merchant_id: merchant } }) => {
      const merchantId = merchant === null ? NIL_ID : decodeId('merchant', merchant);
      const isThere =
        merchantId !== undefined &&
        UUID.test(jobId) &&
        (await runFailingNow(db, { merchantId, jobId }, clock.nowMs()));
      if (!isThere) throw new Fail('conflict', 'This job does not fail any more, or is done.');
      return { body: { done: true } };
    },
  }),
];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** How the whole installation is, for its operator and auditors: what `/metrics` and `florin` show, as a page reads it. */
export const installationRoutes = (deps: InstallationDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: `${PATH}/installation`,
    operationId: 'retrieveInstallation',
    summary: 'Networks, transfers, jobs and ledger; as of some seconds ago',
    permission: { name: 'see_installation' },
    answer: InstallationSchema,
    refusals: [],
    handle: async () => ({ body: presentState(await deps.readState()) }),
  }),
  runningRoute(deps),
  ...jobRoutes(deps),
  ...treasuryRoutes(deps),
];

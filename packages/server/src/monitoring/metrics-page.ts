import { NETWORKS } from '@florin/contract/money';
import { NATIVE_COINS } from '../chains/port/index.ts';
import type { Clock } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { isLocal, type PublicPage } from '../platform/http/pages/index.ts';
import type { Logger, Metrics } from '../platform/observability/index.ts';
import type { ServiceState } from './state.ts';

export interface MetricsDeps {
  metrics: Metrics;
  clock: Clock;
  log: Logger;
  readState: () => Promise<ServiceState>;
}

/** `/metrics` for Prometheus on this machine; other clients get 404. */
export function localMetricsPage(deps: MetricsDeps): PublicPage {
  const page = metricsPage(deps);
  return {
    ...page,
    handle: async (request) => {
      if (!isLocal(request)) throw new Fail('resource_not_found', 'There is nothing at this path.');
      return await page.handle(request);
    },
  };
}

/** `/metrics` for every client. Without the database it shows the process's own metrics. */
export function metricsPage({ metrics, clock, log, readState }: MetricsDeps): PublicPage {
  return {
    path: '/metrics',
    handle: async () => {
      metrics.setGauge(
        'florin_clock_offset_seconds',
        "How far the database's clock is ahead of this machine's.",
        [{ value: clock.offsetMs / 1000 }],
      );
      const state = await readState().catch((error: unknown) => {
        log.warn({ err: error }, 'metrics without the database’s part');
        return undefined;
      });
      metrics.setGauge('florin_database_up', 'Whether the last query of the database succeeded.', [
        { value: state === undefined ? 0 : 1 },
      ]);
      if (state !== undefined) showState(metrics, state);
      return { status: 200, type: metrics.contentType, body: await metrics.text() };
    },
  };
}

function showState(metrics: Metrics, state: ServiceState): void {
  showJobs(metrics, state);
  showTransfers(metrics, state);
  showTanks(metrics, state);
  showScans(metrics, state);
  showPools(metrics, state);
  showRefunds(metrics, state);
  showApprovals(metrics, state);
  showMandates(metrics, state);
  showWebhooks(metrics, state);
  showLedger(metrics, state);
}

function showJobs(metrics: Metrics, { jobs, workers, atMs }: ServiceState): void {
  const byKind = (value: (job: (typeof jobs)[number]) => number) =>
    jobs.map((job) => ({ labels: { kind: job.kind }, value: value(job) }));
  metrics.setGauge(
    'florin_jobs_waiting',
    'Jobs in the table, due or not.',
    byKind((job) => job.waiting),
  );
  metrics.setGauge(
    'florin_jobs_late',
    'Jobs due for more than 5 s that no worker runs.',
    byKind((job) => job.late),
  );
  metrics.setGauge(
    'florin_jobs_failing',
    'Jobs that failed three times or more in a row.',
    byKind((job) => job.failing),
  );
  const lateness = byKind((job) => Math.max(0, atMs - (job.oldestDueMs ?? atMs)) / 1000);
  metrics.setGauge('florin_jobs_lateness_seconds', 'How long the oldest due job has waited.', lateness);
  metrics.setGauge('florin_workers', 'Connected workers of all processes.', [{ value: workers }]);
}

function showTransfers(metrics: Metrics, { transfers, stops, historyChanged, atMs }: ServiceState): void {
  metrics.setGauge(
    'florin_history_changed',
    'Whether payouts wait because the database is a copy, or another copy of it sends.',
    [{ value: historyChanged ? 1 : 0 }],
  );
  const stopped = (what: (typeof stops)[number]['what']) =>
    NETWORKS.map((network) => ({
      labels: { network },
      value: stops.filter((stop) => stop.network === network && stop.what === what).length,
    }));
  metrics.setGauge(
    'florin_networks_stopped',
    'Chains on which nothing is sent since a reorganisation deeper than finality.',
    stopped('sending'),
  );
  metrics.setGauge(
    'florin_early_credit_stopped',
    'Chains on which deposits wait for final blocks since a reorganisation took one that was credited early.',
    stopped('early_credit'),
  );
  const byStatus = [...transfers.byStatus].map(([status, value]) => ({ labels: { status }, value }));
  metrics.setGauge('florin_transfers', 'Transfers by status.', byStatus);
  const queuedSince = transfers.queuedSince ?? atMs / 1000;
  metrics.setGauge(
    'florin_transfers_queued_oldest_seconds',
    'Age of the oldest transfer without a transaction: paused, or its wallet is short.',
    [{ value: Math.max(0, atMs / 1000 - queuedSince) }],
  );
  const of = (value: (attempt: (typeof transfers.undecided)[number]) => number) =>
    transfers.undecided.map((attempt) => ({ labels: { status: attempt.status }, value: value(attempt) }));
  metrics.setGauge(
    'florin_transfer_attempts_undecided',
    'Transactions that are neither final nor dead.',
    of((a) => a.count),
  );
  metrics.setGauge(
    'florin_transfer_attempts_undecided_oldest_seconds',
    'Age of the oldest transaction that is neither final nor dead.',
    of((attempt) => Math.max(0, atMs / 1000 - attempt.oldestCreatedAt)),
  );
}

function showTanks(metrics: Metrics, { tanks }: ServiceState): void {
  const labelled = (value: (tank: (typeof tanks)[number]) => number) =>
    tanks.map((tank) => ({ labels: { network: tank.network }, value: value(tank) }));
  metrics.setGauge(
    'florin_gas_tank_coins',
    "What the gas tank holds of the network's own coin. Near 0, sweeps and payouts wait.",
    labelled(({ network, native }) => Number(native) / Number(NATIVE_COINS[network].units)),
  );
  metrics.setGauge(
    'florin_gas_tank_stake_coins',
    'What the gas tank has staked and lends to deposit addresses: free is at its own disposal.',
    tanks.flatMap(({ network, stake }) =>
      stake === undefined
        ? []
        : (['free', 'lent'] as const).map((state) => ({
            labels: { network, state },
            value: Number(stake[state]) / Number(NATIVE_COINS[network].units),
          })),
    ),
  );
  metrics.setGauge(
    'florin_gas_tank_read_timestamp_seconds',
    'When that was read.',
    labelled(({ readAt }) => readAt),
  );
}

function showScans(metrics: Metrics, { scans }: ServiceState): void {
  metrics.setGauge(
    'florin_network_height',
    'Up to which block workers have looked for deposits of real money. It stands still while the network or its endpoints do.',
    scans.map(({ network, height }) => ({ labels: { network }, value: Number(height) })),
  );
  metrics.setGauge(
    'florin_network_read_timestamp_seconds',
    'When that was.',
    scans.map(({ network, readAt }) => ({ labels: { network }, value: readAt })),
  );
}

function showPools(metrics: Metrics, { pools }: ServiceState): void {
  metrics.setGauge(
    'florin_deposit_addresses_left',
    'Deposit addresses that are left to the merchant with the fewest. At 0 its payers cannot choose the network.',
    pools.map(({ network, left }) => ({ labels: { network }, value: Number(left) })),
  );
}

function showRefunds(metrics: Metrics, { refunds, atMs }: ServiceState): void {
  const labelled = (value: (short: (typeof refunds)[number]) => number) =>
    refunds.map((short) => ({ labels: { network: short.network }, value: value(short) }));
  metrics.setGauge(
    'florin_refunds_short',
    'Refunds that wait for coins on their network.',
    labelled((short) => short.count),
  );
  metrics.setGauge(
    'florin_refunds_short_oldest_seconds',
    'How long the oldest of them has waited, by the clock of its merchant.',
    labelled((short) => Math.max(0, atMs / 1000 - short.oldestSince)),
  );
}

function showApprovals(metrics: Metrics, { approvals }: ServiceState): void {
  metrics.setGauge(
    'florin_approvals_waiting',
    'Payout batches and refunds that wait for approval.',
    Object.entries(approvals).map(([of, value]) => ({ labels: { of }, value })),
  );
}

function showMandates(metrics: Metrics, { elsewhere }: ServiceState): void {
  metrics.setGauge(
    'florin_mandates_elsewhere',
    'Mandates of another collector or delegate than charges now: they wait, and after three days allow nothing.',
    NETWORKS.map((network) => ({ labels: { network }, value: elsewhere.get(network) ?? 0 })),
  );
}

function showWebhooks(metrics: Metrics, { webhooks }: ServiceState): void {
  const undelivered = [...webhooks.undelivered].map(([status, value]) => ({ labels: { status }, value }));
  metrics.setGauge(
    'florin_webhook_deliveries_undelivered',
    'Deliveries that are not delivered.',
    undelivered,
  );
  const endpoints = webhooks.endpoints.map(({ status, failing, count }) => ({
    labels: { status, failing: String(failing) },
    value: count,
  }));
  metrics.setGauge(
    'florin_webhook_endpoints',
    'Endpoints; failing: since their last acknowledgement.',
    endpoints,
  );
}

function showLedger(metrics: Metrics, { imbalances, lastReport }: ServiceState): void {
  metrics.setGauge(
    'florin_ledger_imbalance_units',
    'Liabilities less custody, in the smallest unit. Anything but 0 is an alarm.',
    [...imbalances].map(([currency, value]) => ({ labels: { currency }, value: Number(value) })),
  );
  if (lastReport === undefined) return;
  const { differences, unseen, surpluses = 0, at_ms } = lastReport;
  metrics.setGauge('florin_ledger_differences', 'Differences that the last `florin ledger verify` found.', [
    { value: differences },
  ]);
  metrics.setGauge('florin_ledger_unseen', 'What the last `florin ledger verify` could not compare.', [
    { value: unseen },
  ]);
  metrics.setGauge(
    'florin_ledger_surpluses',
    'Hot wallets in which the last `florin ledger verify` found coins that the books do not know.',
    [{ value: surpluses }],
  );
  metrics.setGauge('florin_ledger_verified_timestamp_seconds', 'When `florin ledger verify` last ended.', [
    { value: at_ms / 1000 },
  ]);
}

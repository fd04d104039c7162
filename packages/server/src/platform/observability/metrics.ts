import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** One answered request. */
export interface RequestSample {
  method: string;
  /** The route's template (`/api/v1/events/{event_id}`), never the path of the request. */
  route: string;
  status: number;
  seconds: number;
}

/** One value of a gauge with its labels, whose values come from closed sets. */
export interface GaugeSample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A histogram of durations that a module defines. */
export interface HistogramDefinition {
  name: string;
  help: string;
  labelNames?: readonly string[];
  /** Upper bounds in seconds (5 ms to 10 s). */
  buckets?: readonly number[];
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Sampling interval of the event loop delay: long enough that an idle process stays idle. */
const EVENT_LOOP_SAMPLE_MS = 50;

/** The numbers of this process in Prometheus' format. Every label's values come from a closed set. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #gauges = new Map<string, Gauge>();
  readonly #pools = new Map<string, () => Record<string, number>>();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #refusals: Counter<'reason'>;
  readonly #lostRequests: Counter<'reason'>;
  readonly #jobs: Histogram<'kind' | 'outcome'>;
  readonly #chainCalls: Histogram<'network' | 'call' | 'outcome'>;
  readonly #histograms = new Map<string, Histogram>();

  /** @param version of this release, shown as `florin_build_info` */
  constructor(version: string) {
    const registers = [this.#registry];
    const buckets = SECONDS_BUCKETS;
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    this.#requests = new Histogram({
      name: 'florin_http_request_duration_seconds',
      help: 'Requests answered, by how long they took.',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers,
    });
    this.#refusals = new Counter({
      name: 'florin_authentication_refusals_total',
      help: 'Requests answered 401, by what was wrong. `nonce` is a replay.',
      labelNames: ['reason'],
      registers,
    });
    this.#lostRequests = new Counter({
      name: 'florin_request_log_lost_total',
      help: 'Requests that are missing in the request log, by the reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#jobs = new Histogram({
      name: 'florin_job_run_duration_seconds',
      help: 'Runs of jobs in this process, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      buckets,
      registers,
    });
    this.#chainCalls = new Histogram({
      name: 'florin_chain_call_duration_seconds',
      help: 'Calls to chains, by network, call and outcome.',
      labelNames: ['network', 'call', 'outcome'],
      buckets,
      registers,
    });
    this.setGauge('florin_build_info', 'Always 1; the labels say what runs.', [
      { labels: { version, node: process.version }, value: 1 },
    ]);
  }

  answered({ method, route, status, seconds }: RequestSample): void {
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.observe({ method: known, route, status: String(status) }, seconds);
  }

  /** @param reason one of a closed set, see `stores/keys/authenticate.ts` */
  refused(reason: string): void {
    this.#refusals.inc({ reason });
  }

  /** @param reason one of a closed set, see `request-log/request-log.ts` */
  lostRequests(reason: string, count: number): void {
    this.#lostRequests.inc({ reason }, count);
  }

  ranJob(kind: string, outcome: 'done' | 'failed', seconds: number): void {
    this.#jobs.observe({ kind, outcome }, seconds);
  }

  calledChain(labels: { network: string; call: string; outcome: 'done' | 'failed' }, seconds: number): void {
    this.#chainCalls.observe(labels, seconds);
  }

  /** Adds a duration in seconds to a module's own histogram, which exists from its first value on. */
  observe(
    definition: HistogramDefinition,
    seconds: number,
    labels: Readonly<Record<string, string>> = {},
  ): void {
    const { name, help, labelNames = [], buckets = SECONDS_BUCKETS } = definition;
    const histogram =
      this.#histograms.get(name) ??
      new Histogram({
        name,
        help,
        labelNames: [...labelNames],
        buckets: [...buckets],
        registers: [this.#registry],
      });
    this.#histograms.set(name, histogram);
    histogram.observe(labels, seconds);
  }

  /** Reports the connections of a pool at each read of the metrics. */
  watchPool(name: string, counts: () => Record<'total' | 'idle' | 'waiting', number>): void {
    this.#pools.set(name, counts);
  }

  /** Replaces all samples of a gauge, which has the labels of its first one. */
  setGauge(name: string, help: string, samples: readonly GaugeSample[]): void {
    const [first] = samples;
    if (first === undefined) {
      this.#gauges.get(name)?.reset();
      return;
    }
    const gauge = this.#gauges.get(name) ?? this.#addGauge(name, help, Object.keys(first.labels ?? {}));
    gauge.reset();
    for (const { labels = {}, value } of samples) gauge.set(labels, value);
  }

  #addGauge(name: string, help: string, labelNames: string[]): Gauge {
    const gauge = new Gauge({ name, help, labelNames, registers: [this.#registry] });
    this.#gauges.set(name, gauge);
    return gauge;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const states = [...this.#pools].flatMap(([pool, counts]) =>
      Object.entries(counts()).map(([state, value]) => ({ labels: { pool, state }, value })),
    );
    this.setGauge('florin_database_connections', 'Connections of this process; waiting are callers.', states);
    return await this.#registry.metrics();
  }
}

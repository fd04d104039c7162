import type { ChainRegistry } from '../chains/index.ts';
import type { Chain } from '../chains/port/index.ts';
import type { JobHandler } from '../platform/jobs/index.ts';
import type { Metrics } from '../platform/observability/index.ts';
import { traced, withLogFields } from '../platform/observability/index.ts';

type Outcome = 'done' | 'failed';

/** Runs `work` and reports its outcome and duration in seconds. */
async function timed<T>(
  work: () => Promise<T>,
  report: (outcome: Outcome, seconds: number) => void,
): Promise<T> {
  const startedMs = performance.now();
  let outcome: Outcome = 'failed';
  try {
    const result = await work();
    outcome = 'done';
    return result;
  } finally {
    report(outcome, (performance.now() - startedMs) / 1000);
  }
}

/** Wraps handlers so that each run is counted and traced. */
export function observeJobs(
  handlers: ReadonlyMap<string, JobHandler>,
  metrics: Metrics,
): ReadonlyMap<string, JobHandler> {
  const observed = (kind: string, handle: JobHandler): JobHandler => {
    return (job, run) => {
      const attributes = { 'florin.job.id': job.jobId, 'florin.job.attempts': job.attempts };
      // Without a parent the job starts a new trace.
      const headers = { traceparent: job.trace ?? undefined };
      return timed(
        () =>
          withLogFields({ job_id: job.jobId, job: kind }, () =>
            traced(`job ${kind}`, { kind: 'job', attributes, headers }, () => handle(job, run)),
          ),
        (outcome, seconds) => metrics.ranJob(kind, outcome, seconds),
      );
    };
  };
  return new Map([...handlers].map(([kind, handle]) => [kind, observed(kind, handle)]));
}

/** Wraps chains so that each call of the port is counted and traced. */
export function observeChains(registry: ChainRegistry, metrics: Metrics): ChainRegistry {
  return { ...registry, of: (merchant, network) => observeChain(registry.of(merchant, network), metrics) };
}

function observeChain(chain: Chain, metrics: Metrics): Chain {
  const { network } = chain;
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      return (...args: unknown[]) =>
        timed(
          () =>
            traced(`chain ${name}`, { kind: 'call', attributes: { 'florin.network': network } }, async () =>
              Reflect.apply(value, target, args),
            ),
          (outcome, seconds) => metrics.calledChain({ network, call: name, outcome }, seconds),
        );
    },
  });
}

import { type Attributes, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Fail } from '../fail.ts';

// Only OpenTelemetry's API: without an SDK, which an operator loads with `node --import`, every call is a no-op.
const tracer = trace.getTracer('florin');

const KINDS = { request: SpanKind.SERVER, job: SpanKind.CONSUMER, call: SpanKind.CLIENT } as const;

export interface SpanOptions {
  kind: keyof typeof KINDS;
  attributes: Attributes;
  /** Headers of a request, or the trace of a job: the span continues their `traceparent`. */
  headers?: Readonly<Record<string, string | undefined>>;
}

/** The active span as a W3C `traceparent`, for work that is done later; null where nothing is traced. */
export function activeTrace(): string | null {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
}

/** Runs `work` in a span. Names and attributes come from closed sets and ids: never a body, a header or a message. */
export async function traced<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const { kind, attributes, headers } = options;
  const active = context.active();
  const parent = headers === undefined ? active : propagation.extract(active, headers);
  return await tracer.startActiveSpan(name, { kind: KINDS[kind], attributes }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      // A refusal is no error. Of other errors only the class is recorded, as a message may quote a secret.
      if (error instanceof Fail) span.setAttribute('florin.refusal', error.code);
      else span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.constructor.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  });
}

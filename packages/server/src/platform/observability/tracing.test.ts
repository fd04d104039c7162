import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanStatus,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { Fail } from '../fail.ts';
import { traced } from './tracing.ts';

interface Recorded {
  name: string;
  parent: string | undefined;
  attributes: Attributes;
  status?: SpanStatus;
  ended: boolean;
}

const spans: Recorded[] = [];

/** What an operator's SDK would be: it writes spans down. Only the first one that is set counts. */
function loadSdk(): void {
  const start = (name: string, attributes: Attributes, context: Context) => {
    const parent = trace.getSpanContext(context)?.spanId;
    const recorded: Recorded = { name, parent, attributes: { ...attributes }, ended: false };
    spans.push(recorded);
    return {
      setAttribute: (key: string, value: string) => void Object.assign(recorded.attributes, { [key]: value }),
      setStatus: (status: SpanStatus) => void Object.assign(recorded, { status }),
      end: () => void Object.assign(recorded, { ended: true }),
    } as unknown as Span;
  };
  const tracer = {
    startActiveSpan: (
      name: string,
      options: { attributes: Attributes },
      context: Context,
      work: (span: Span) => unknown,
    ) => work(start(name, options.attributes, context)),
  } as unknown as Tracer;
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  propagation.setGlobalPropagator(FROM_HEADER);
}

const FROM_HEADER: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject: () => {},
  extract: (context, carrier: Record<string, string | undefined>) => {
    const [, traceId = '', spanId = ''] = carrier.traceparent?.split('-') ?? [];
    return traceId === '' ? context : trace.setSpanContext(context, { traceId, spanId, traceFlags: 1 });
  },
};

// The file that runs next in this process finds no SDK, and modules that have seen none.
afterAll(() => {
  trace.disable();
  propagation.disable();
  context.disable();
  vi.resetModules();
});
afterEach(() => {
  spans.length = 0;
});

const options = { kind: 'request', attributes: { 'http.route': '/a' } } as const;

test('without an SDK the work runs and nothing else happens', async () => {
  expect(await traced('a', options, async () => 5)).toBe(5);
  await expect(traced('a', options, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('a span continues the trace that the caller names', async () => {
  loadSdk();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await traced('GET /a', { ...options, headers: { traceparent } }, async () => {});
  await traced('GET /a', { ...options, headers: {} }, async () => {});
  expect(spans).toEqual([
    { name: 'GET /a', parent: 'b7ad6b7169203331', attributes: options.attributes, ended: true },
    {
      name: 'GET /a',
      parent: trace.getSpanContext(ROOT_CONTEXT)?.spanId,
      attributes: options.attributes,
      ended: true,
    },
  ]);
});

test('a refusal is an answer; a failure is traced by its class and never by its text', async () => {
  const refused = () => Promise.reject(new Fail('invalid_request', 'the amount "planted" is wrong'));
  const failed = () => Promise.reject(new TypeError('postgres://a:planted@b'));
  await expect(traced('a', options, refused)).rejects.toThrow('is wrong');
  await expect(traced('a', options, failed)).rejects.toThrow('postgres:');
  expect(spans.map(({ status }) => status)).toEqual([undefined, { code: 2 }]);
  expect(spans[0]?.attributes).toMatchObject({ 'florin.refusal': 'invalid_request' });
  expect(spans[1]?.attributes).toMatchObject({ 'error.type': 'TypeError' });
  expect(JSON.stringify(spans)).not.toContain('planted');
});

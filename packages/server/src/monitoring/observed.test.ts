import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startService, type TestService } from '../../../../test/service.ts';
import { send } from '../../../../test/signed-request.ts';
import { SEND_JOB } from '../transfers/index.ts';

const PROCESS_JOB = 'payouts.process';
const SETTLE_JOB = 'payout_item.decided';

interface Recorded {
  name: string;
  traceId: string;
  spanId: string;
  parentId: string | undefined;
}

const spans: Recorded[] = [];

/** What an operator's SDK would be: it hands contexts on, reads and writes `traceparent`, and writes spans down. */
function loadSdk(): void {
  const store = new AsyncLocalStorage<Context>();
  const manager = {
    active: () => store.getStore() ?? ROOT_CONTEXT,
    with: (next: Context, work: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]) =>
      store.run(next, () => work.apply(self, args)),
    enable: () => manager,
    disable: () => manager,
  } as unknown as ContextManager;
  const propagator: TextMapPropagator = {
    fields: () => ['traceparent'],
    inject: (from, carrier: Record<string, string>) => {
      const span = trace.getSpanContext(from);
      if (span) carrier.traceparent = `00-${span.traceId}-${span.spanId}-01`;
    },
    extract: (into, carrier: Record<string, string | undefined>) => {
      const [, traceId, spanId] = carrier.traceparent?.split('-') ?? [];
      return traceId && spanId ? trace.setSpanContext(into, { traceId, spanId, traceFlags: 1 }) : into;
    },
  };
  const tracer = {
    startActiveSpan: (name: string, _: object, parent: Context, work: (span: Span) => unknown) => {
      const from = trace.getSpanContext(parent);
      const spanId = String(spans.length + 1).padStart(16, '0');
      const traceId = from?.traceId ?? spanId.repeat(2);
      spans.push({ name, traceId, spanId, parentId: from?.spanId });
      const span = {
        spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
        setAttribute() {},
        setStatus() {},
        end() {},
      } as unknown as Span;
      return context.with(trace.setSpan(parent, span), () => work(span));
    },
  } as unknown as Tracer;
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator(propagator);
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
}

let service: TestService;
beforeAll(async () => {
  loadSdk();
  service = await startService({ worker: true });
});
// The file that runs next in this process finds no SDK, and modules that have seen none.
afterAll(() => {
  trace.disable();
  propagation.disable();
  context.disable();
  vi.resetModules();
});
afterAll(async () => await service?.stop());

test('jobs enqueued by a request, and by these jobs, run in its trace; other jobs in their own', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20' as const, address: erc20.succeed, amount: '1.00' }];
  const { batch_id } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const answer = await send(`${service.baseUrl}/api/v1/payout-batches/${batch_id}/submit`, merchant, {
    method: 'POST',
    body: '{}',
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  expect(answer.status, answer.text).toBe(200);
  await merchant.sdk.testHelpers.advanceClock(10);
  const own = spans.filter((span) => span.traceId === traceId);
  const request = own.find((span) => span.parentId === 'b7ad6b7169203331');
  expect(request?.name).toContain('POST');
  const names = new Set(own.map((span) => span.name));
  for (const kind of [PROCESS_JOB, SEND_JOB, SETTLE_JOB]) expect([...names]).toContain(`job ${kind}`);
  expect(own.find((span) => span.name === `job ${PROCESS_JOB}`)?.parentId).toBe(request?.spanId);
  const nobodys = spans.find((span) => span.name === 'job stores.delete-old-nonces');
  expect(nobodys).toMatchObject({ parentId: undefined });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryStore, type Verdict, type WebhookEvent, webhooks } from './index.ts';

const { latestOnly, everyOnce } = webhooks;

/** The event that made the resource what `sequence` says. */
function eventOf(sequence: number, resource: object = { id: 'in_1' }): WebhookEvent {
  const event = {
    id: `evt_${JSON.stringify(resource)}_${sequence}`,
    object: 'event',
    type: 'invoice.paid',
    api_version: '2026-04-20',
    created: 1_776_643_200,
    store_id: 'store_1',
    livemode: false,
    sequence,
    data: { object: { ...resource }, previous_attributes: null },
  };
  // An id is all that is looked at.
  return event as unknown as WebhookEvent;
}

/** A handler that runs until the test ends it. */
function heldHandler() {
  const running: { event: WebhookEvent; end: (error?: Error) => void }[] = [];
  const handler = (event: WebhookEvent) =>
    new Promise<void>((resolve, reject) => {
      running.push({ event, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  return { running, handler };
}

/** Lets everything happen that waits for nothing outside. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('latestOnly', () => {
  test('distinguishes a new event from a duplicate and a stale one', async () => {
    const seen: number[] = [];
    const guard = latestOnly((event) => seen.push(event.sequence));
    const verdicts: Verdict[] = [];
    for (const sequence of [1, 1, 4, 2, 2, 4, 5, 1]) verdicts.push(await guard(eventOf(sequence)));
    expect(verdicts).toEqual([
      'new',
      'duplicate',
      'new',
      'stale',
      'duplicate',
      'duplicate',
      'new',
      'duplicate',
    ]);
    expect(seen).toEqual([1, 4, 5]);
  });

  test('each resource has an order of its own, a payout batch by its batch_id, a refund by its refund_id', async () => {
    const guard = latestOnly(() => {});
    expect(await guard(eventOf(9, { id: 'in_1' }))).toBe('new');
    expect(await guard(eventOf(1, { id: 'in_2' }))).toBe('new');
    expect(await guard(eventOf(2, { batch_id: 'pb_1' }))).toBe('new');
    expect(await guard(eventOf(1, { batch_id: 'pb_1' }))).toBe('stale');
    expect(await guard(eventOf(1, { batch_id: 'pb_2' }))).toBe('new');
    expect(await guard(eventOf(1, { refund_id: 'in_1', id: undefined }))).toBe('new');
    expect(await guard(eventOf(1, { refund_id: 'in_1', id: undefined }))).not.toBe('new');
    expect(await guard(eventOf(2, { name: 'no id' }))).toBe('new');
    expect(await guard(eventOf(1, { name: 'no id' }))).toBe('new');
  });

  test('a handler that fails leaves no mark: the same event is new again', async () => {
    let failures = 2;
    const seen: number[] = [];
    const guard = latestOnly((event) => {
      if (failures-- > 0) throw new Error('database away');
      seen.push(event.sequence);
    });
    await expect(guard(eventOf(3))).rejects.toThrow('database away');
    await expect(guard(eventOf(3))).rejects.toThrow('database away');
    // What was older than the failed one is not stale either.
    expect(await guard(eventOf(2))).toBe('new');
    expect(await guard(eventOf(3))).toBe('new');
    expect(seen).toEqual([2, 3]);
  });

  test('a copy that comes while the first is handled waits for its end, whatever that is', async () => {
    const { running, handler } = heldHandler();
    const guard = latestOnly(handler);
    const first = guard(eventOf(1));
    const copy = guard(eventOf(1));
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.end(new Error('failed'));
    await expect(first).rejects.toThrow('failed');
    await settled();
    expect(running).toHaveLength(2);
    running[1]?.end();
    expect(await copy).toBe('new');
    expect(await guard(eventOf(1))).toBe('duplicate');
  });

  test('an older event waits for a newer one that is being handled, other resources do not', async () => {
    const { running, handler } = heldHandler();
    const guard = latestOnly(handler);
    const newer = guard(eventOf(2));
    const older = guard(eventOf(1));
    const other = guard(eventOf(1, { id: 'in_2' }));
    await settled();
    expect(running.map(({ event }) => event.data.object)).toEqual([{ id: 'in_1' }, { id: 'in_2' }]);
    for (const { end } of running) end();
    expect(await Promise.all([newer, older, other])).toEqual(['new', 'stale', 'new']);
  });

  test.each([0, -1, 1.5, Number.NaN, '1', undefined])(
    'a sequence of %s is an error, not a verdict',
    async (given) => {
      const guard = latestOnly(() => expect.unreachable());
      await expect(guard({ ...eventOf(1), sequence: given as number })).rejects.toThrow(TypeError);
    },
  );

  test('whatever order, copies and failures: the state kept is the last, and it never goes back', async () => {
    const delivery = fc.record({
      sequence: fc.integer({ min: 1, max: 8 }),
      fails: fc.boolean(),
      id: fc.constantFrom('a', 'b'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(delivery, { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        async (sent, atOnce) => {
          const state = new Map<string, number>();
          const failing = new Set<unknown>();
          const guard = latestOnly(async (event) => {
            const { id } = event.data.object as { id: string };
            await Promise.resolve();
            if (failing.delete(event)) throw new Error('failed');
            expect(event.sequence).toBeGreaterThan(state.get(id) ?? 0);
            state.set(id, event.sequence);
          });
          const send = async ({ sequence, id, fails }: (typeof sent)[number]) => {
            const event = eventOf(sequence, { id });
            if (fails) failing.add(event);
            // What failed is sent again, as the service does.
            await guard(event).catch(() => guard(event));
          };
          if (atOnce) await Promise.all(sent.map(send));
          else for (const each of sent) await send(each);
          for (const id of ['a', 'b']) {
            const sequences = sent.filter((each) => each.id === id).map(({ sequence }) => sequence);
            expect(state.get(id) ?? 0).toBe(Math.max(0, ...sequences));
          }
        },
      ),
    );
  });
});

describe('everyOnce', () => {
  test('every event once, in whatever order it comes', async () => {
    const seen: number[] = [];
    const guard = everyOnce((event) => seen.push(event.sequence));
    const verdicts: Verdict[] = [];
    for (const sequence of [3, 1, 3, 2, 1]) verdicts.push(await guard(eventOf(sequence)));
    expect(verdicts).toEqual(['new', 'new', 'duplicate', 'new', 'duplicate']);
    expect(seen).toEqual([3, 1, 2]);
  });

  test('one that failed is new again', async () => {
    let failures = 1;
    const guard = everyOnce(() => {
      if (failures-- > 0) throw new Error('failed');
    });
    await expect(guard(eventOf(1))).rejects.toThrow('failed');
    expect(await guard(eventOf(1))).toBe('new');
    expect(await guard(eventOf(1))).toBe('duplicate');
  });
});

test('a store in memory forgets the keys that were advanced longest ago', async () => {
  const store = new MemoryStore(2);
  const advance = (key: string, sequence: number) =>
    store.transaction((tx) => store.advance(tx, key, sequence));
  expect([
    await advance('a', 1),
    await advance('b', 1),
    await advance('a', 2),
    await advance('c', 1),
  ]).toEqual([true, true, true, true]);
  expect([await advance('a', 2), await advance('c', 1), await advance('b', 1)]).toEqual([false, false, true]);
});

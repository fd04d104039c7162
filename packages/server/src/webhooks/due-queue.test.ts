import { expect, test } from 'vitest';
import { DueQueue } from './due-queue.ts';
import type { DueDelivery, EndpointWork } from './endpoint-work.ts';

const due = (eventId: string, dueAt = 0): DueDelivery => ({
  eventId,
  eventType: 'payout_batch.updated',
  seriesAttempts: dueAt === 0 ? 0 : 1,
  dueAt,
  body: Buffer.from('{}'),
});

const read = (firstTries: DueDelivery[], retries: DueDelivery[] = []): EndpointWork => ({
  endpointId: 'endpoint',
  url: 'https://shop.example',
  isEnabled: true,
  failures: 0,
  mode: 'live',
  clockOffset: 0,
  secret: undefined,
  firstTries,
  retries,
});

const AT_100 = { limit: 10, nowSeconds: 100 };

test('a delivery that two reads return is sent once, and another read is wanted', () => {
  const queue = new DueQueue();
  expect(queue.add(read([due('a'), due('b')]), AT_100)).toBe(false);
  expect(queue.takeMustReread()).toBe(false);
  expect(queue.takeNext(true)?.eventId).toBe('a');
  queue.add(read([due('a'), due('b'), due('c')]), AT_100);
  expect(queue.takeMustReread()).toBe(true);
  expect(queue.takeMustReread()).toBe(false);
  expect(
    [queue.takeNext(true), queue.takeNext(true), queue.takeNext(true)].map((one) => one?.eventId),
  ).toEqual(['b', 'c', undefined]);
  expect([queue.taken, queue.length]).toEqual([3, 0]);
});

test('a delivery that was recorded while a read ran is not taken from it; the next read returns it', () => {
  const queue = new DueQueue();
  queue.add(read([due('a')]), AT_100);
  queue.takeNext(true);
  queue.beginRead();
  queue.recorded('a', 130);
  queue.release('a');
  queue.add(read([due('a')]), AT_100);
  expect([queue.length, queue.takeMustReread(), queue.nextDueAt]).toEqual([0, true, 130]);
  queue.beginRead();
  queue.add(read([], [due('a', 90)]), AT_100);
  expect([queue.length, queue.nextDueAt]).toEqual([1, Number.POSITIVE_INFINITY]);
});

test('first tries keep their order, retries go before them where they may and instead of none', () => {
  const queue = new DueQueue();
  queue.add(read([due('a'), due('b')], [due('r', 90), due('s', 95), due('later', 101)]), AT_100);
  expect(queue.nextDueAt).toBe(101);
  const order = [false, true, false, false, false].map((mayRetry) => queue.takeNext(mayRetry)?.eventId);
  expect(order).toEqual(['a', 'r', 'b', 's', undefined]);
});

test('a read that reached its limit may have left some', () => {
  const queue = new DueQueue();
  const two = { limit: 2, nowSeconds: 100 };
  expect(queue.add(read([due('a'), due('b')]), two)).toBe(true);
  queue.drop();
  expect([queue.length, queue.taken]).toEqual([0, 0]);
  expect(queue.add(read([due('a')], [due('r', 1), due('later', 200)]), two)).toBe(false);
});

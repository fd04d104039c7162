import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { Clock, isoOf } from './clock.ts';
import { connect, type Db } from './db.ts';

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
  drop = () => database.drop();
});
afterAll(async () => {
  await db.destroy();
  await drop();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([-86_400_000, -400_000, 0, 299_000, 3_600_000])(
  'L1: a machine whose clock is %i ms off goes by the time of the database',
  async (offMs) => {
    const real = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: real + offMs });
    const clock = new Clock();
    await clock.measure(db);
    expect(Math.abs(clock.nowMs() - real)).toBeLessThan(2_000);
    expect(Math.abs(clock.offsetMs + offMs)).toBeLessThan(2_000);
    expect(clock.nowSeconds()).toBe(Math.floor(clock.nowMs() / 1000));
  },
);

test('a measurement that fails keeps the offset, and the clock goes on', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  const clock = new Clock();
  await clock.measure(db);
  const { offsetMs } = clock;
  const away = connect({ url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1 });
  await expect(clock.measure(away)).rejects.toThrow('ECONNREFUSED');
  await away.destroy();
  expect(clock.offsetMs).toBe(offsetMs);
});

test('L1: a machine whose clock is set while it runs moves nothing, and the next measurement reports it', async () => {
  const clock = new Clock();
  await clock.measure(db);
  const real = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: real - 86_400_000 });
  expect(Math.abs(clock.nowMs() - real)).toBeLessThan(2_000);
  await clock.measure(db);
  expect(Math.abs(clock.nowMs() - real)).toBeLessThan(2_000);
  expect(Math.abs(clock.offsetMs - 86_400_000)).toBeLessThan(2_000);
});

test('times for people are UTC without fractions', () => {
  expect([isoOf(null), isoOf(0n), isoOf(1_770_000_000_000)]).toEqual([
    null,
    '1970-01-01T00:00:00Z',
    '2026-02-02T02:40:00Z',
  ]);
});

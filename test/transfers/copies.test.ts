import { randomBytes } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { monitoringPages } from '../../packages/server/src/app.ts';
import { historyCommands } from '../../packages/server/src/operator/history.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { hasHistoryChanged } from '../../packages/server/src/transfers/history/index.ts';
import { WAYS_BY_DUMP, WAYS_WITHOUT_PROGRAMS, type WayToCopy, whyNoDump } from '../copies.ts';
import { createDatabase } from '../database.ts';
import { asOwner } from '../ledger.ts';
import { readReadiness } from '../readiness.ts';
import { type ServiceOptions, startService, type TestMerchant, type TestService } from '../service.ts';
import { finishAll, type Item, NETWORKS, newMerchant, type Payout, submitItems } from './payouts.ts';
import { GivenUp, Process } from './process.ts';

// Copies of a database share the chains and the wallets, as real copies do.

const masterKey = randomBytes(32);
const POLL = { timeout: 60_000, interval: 300 };

let chains: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  chains = await createDatabase();
});
afterAll(() => chains.drop());

const open = (options: ServiceOptions = {}) =>
  startService({ simchainUrl: chains.url, masterKey, ...options });

let cents = 0;
/** Items with unique amounts, so that a movement identifies its item. */
const items = (count: number): Item[] =>
  Array.from({ length: count }, () => {
    cents += 1;
    return { to: 'succeed', amount: (1 + cents / 100).toFixed(2) };
  });

const MOVED = `
  select t.merchant_id || ' ' || t.network || ' ' || t.amount as item, count(*)::int as times
  from simchain.transfer t join simchain.transaction x using (merchant_id, network, tx_id)
  where x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient and t.merchant_id = any($1)
  group by 1 order by 1`;
async function moved(merchants: Iterable<TestMerchant>): Promise<{ item: string; times: number }[]> {
  const client = new pg.Client({ connectionString: chains.url });
  await client.connect();
  try {
    const ids = [...merchants].map(({ merchantId }) => merchantId);
    return (await client.query<{ item: string; times: number }>(MOVED, [ids])).rows;
  } finally {
    await client.end();
  }
}

const ITEMS = `
  select merchant_id || ' ' || network || ' ' || amount as item, 1 as times from payout_item
  where merchant_id = any($1) order by 1`;
const allItems = (service: TestService, merchants: Iterable<TestMerchant>) =>
  asOwner<{ item: string; times: number }>(service, ITEMS, [
    [...merchants].map(({ merchantId }) => merchantId),
  ]);

/** Makes every job due now. */
const callAll = async (service: TestService) =>
  void (await asOwner(
    service,
    `update job set due_at_ms = 0 where kind in ('transfers.send', 'payouts.process') and lease_owner is null`,
  ));

interface Started {
  service: TestService;
  merchants: Map<Network, TestMerchant>;
  payouts: Payout[];
}

/** An installation with a merchant on each network, with one paid batch and some under way. */
async function begin(): Promise<Started> {
  const service = await open();
  const merchants = new Map<Network, TestMerchant>();
  const payouts: Payout[] = [];
  for (const network of NETWORKS) merchants.set(network, await newMerchant(service, network));
  const submit = async (count: number) => {
    for (const [network, merchant] of merchants)
      payouts.push(await submitItems(service, merchant, { network, items: items(count) }));
  };
  await submit(1);
  await work(service, () => finishAll(service, payouts, POLL.timeout));
  await submit(2);
  // Their attempts are reserved and not signed yet.
  for (const { merchantId } of merchants.values()) {
    const at = ({ name }: { name: string }) => {
      if (name === 'before build') throw new GivenUp(name);
    };
    const process = new Process(service.app, merchantId, { at });
    await expect(process.step().then(() => process.step())).rejects.toThrow(GivenUp);
  }
  await submit(3);
  return { service, merchants, payouts };
}

async function work<T>(service: TestService, during: () => Promise<T>): Promise<T> {
  const worker = await service.startWorker();
  try {
    return await during();
  } finally {
    await worker.stop(5_000);
  }
}

const isToldChanged = async (service: TestService) =>
  (await service.app.readState()).historyChanged &&
  (await (await fetch(`${service.baseUrl}/metrics`)).text()).includes('\nflorin_history_changed 1\n');

/** Runs everything that a copy can run. @returns its log messages */
async function provoke(copy: TestService): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await callAll(copy);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function expectStopped(copy: TestService, lines: readonly string[]): Promise<void> {
  await expect.poll(() => isToldChanged(copy), POLL).toBe(true);
  const [, { status, checks }] = await readReadiness(monitoringPages(copy.app));
  expect(status).toBe('ready');
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: 'history',
      status: 'warning',
      message: expect.stringContaining('history_changed'),
    }),
  );
  const told = lines.filter((line) => line.includes('history_changed'));
  expect(told.length).toBeGreaterThan(0);
  const networks = told.map((line) => String(JSON.parse(line).network));
  expect(networks.toSorted()).toEqual([...new Set(networks)].toSorted());
}

const collect = () => {
  const lines: string[] = [];
  return { lines, log: createLogger('warn', { write: (line) => void lines.push(line) }) };
};

async function expectPaysNothingAgain(way: WayToCopy): Promise<void> {
  const { service, merchants, payouts } = await begin();
  const backup = await way.backup(service.app.databaseUrl, chains.url);
  const { lines, log } = collect();
  let copy: TestService | undefined;
  try {
    await work(service, () => finishAll(service, payouts, POLL.timeout));
    const wanted = await allItems(service, merchants.values());
    expect(await moved(merchants.values())).toEqual(wanted);
    copy = await open({ databaseUrl: await backup.restore(), worker: true, log });
    await provoke(copy);
    expect(await moved(merchants.values())).toEqual(wanted);
    await expectStopped(copy, lines);
    expect(await moved(merchants.values())).toEqual(wanted);
    await expect(historyCommands(copy.app).adoptHistory()).rejects.toMatchObject({ code: 'conflict' });
  } finally {
    await copy?.stop();
    await service.stop();
    await backup.remove();
  }
}

test.each(WAYS_WITHOUT_PROGRAMS.map((way) => ({ way, name: way.name })))(
  'fault 76: nothing is paid twice by $name',
  { timeout: 240_000 },
  ({ way }) => expectPaysNothingAgain(way),
);

const SERVER_MAJOR = process.env.FLORIN_TEST_POSTGRES === '15' ? 15 : 18;
const reason = whyNoDump(SERVER_MAJOR);
describe.skipIf(reason !== undefined)(
  `with the machine's programs${reason === undefined ? '' : `: skipped, as ${reason}`}`,
  () => {
    test.each(WAYS_BY_DUMP.map((way) => ({ way, name: way.name })))(
      'fault 76: nothing is paid twice by $name',
      { timeout: 240_000 },
      ({ way }) => expectPaysNothingAgain(way),
    );
  },
);

const [template] = WAYS_WITHOUT_PROGRAMS;

/** As with copied files: nothing in the copy distinguishes it from the original. */
const BECOME_ALIKE = `
  update setting set value = value || jsonb_build_object('identity',
    (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
    || (select oid from pg_database where datname = current_database()) || '/' || 'transfer_attempt'::regclass::oid)
  where name = 'transfers.history'`;

test.each([{ isAlike: false }, { isAlike: true }])(
  'fault 76: two copies work concurrently, alike: $isAlike: each item is paid at most once, and one of them stops',
  { timeout: 240_000 },
  async ({ isAlike }) => {
    const { service, merchants, payouts } = await begin();
    const backup = await template?.backup(service.app.databaseUrl, chains.url);
    if (backup === undefined) throw new Error('there is no way to copy');
    const { lines, log } = collect();
    const copy = await open({ databaseUrl: await backup.restore(), log });
    try {
      if (isAlike) await asOwner(copy, BECOME_ALIKE);
      await Promise.all([service.startWorker(), copy.startWorker()]);
      if (!isAlike) await finishAll(service, payouts, POLL.timeout);
      await Promise.all([provoke(service), provoke(copy)]);
      for (const { chain } of payouts) await chain.mine(4);
      const wanted = await allItems(service, merchants.values());
      const paid = await moved(merchants.values());
      if (!isAlike) {
        expect(paid).toEqual(wanted);
        await expectStopped(copy, lines);
        return;
      }
      expect(paid.filter(({ times }) => times !== 1)).toEqual([]);
      expect(wanted).toEqual(expect.arrayContaining(paid));
      const stopped = async () => {
        await Promise.all([callAll(service), callAll(copy)]);
        return await Promise.all([service, copy].map(({ app }) => hasHistoryChanged(app.db)));
      };
      await expect.poll(stopped, POLL).toContain(true);
    } finally {
      await copy.stop();
      await service.stop();
      await backup.remove();
    }
  },
);

test('fault 76: once a copy was adopted, the original finds a newer generation and sends nothing more', {
  timeout: 240_000,
}, async () => {
  const service = await open();
  const merchant = await newMerchant(service, 'trc20');
  const submit = (on: TestService) => submitItems(on, merchant, { network: 'trc20', items: items(2) });
  const first = await submit(service);
  await work(service, () => finishAll(service, [first], POLL.timeout));
  const backup = await template?.backup(service.app.databaseUrl, chains.url);
  if (backup === undefined) throw new Error('there is no way to copy');
  const copy = await open({ databaseUrl: await backup.restore() });
  const there = { ...merchant, sdk: copy.sdkFor(merchant) };
  try {
    expect(await historyCommands(copy.app).adoptHistory()).toEqual({ adopted: true });
    const onCopy = await submitItems(copy, there, { network: 'trc20', items: items(2) });
    await work(copy, () => finishAll(copy, [onCopy], POLL.timeout));
    const paid = await moved([merchant]);
    expect(paid).toEqual(await allItems(copy, [merchant]));
    await submit(service);
    await work(service, async () => {
      await provoke(service);
      const isChanged = async () => {
        await callAll(service);
        return await hasHistoryChanged(service.app.db);
      };
      await expect.poll(isChanged, POLL).toBe(true);
    });
    expect(await moved([merchant])).toEqual(paid);
    expect(await hasHistoryChanged(copy.app.db)).toBe(false);
  } finally {
    await copy.stop();
    await service.stop();
    await backup.remove();
  }
});

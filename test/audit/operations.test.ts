import { expect, test } from 'vitest';
import type { App } from '../../packages/server/src/app.ts';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { auditOperations, isReading } from '../../packages/server/src/operator/audited.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { openPlatform } from '../platform.ts';

test('operations that read are known by their names, all others are recorded', () => {
  const reading = [
    'keys.list',
    'settings.get',
    'requests.show',
    'treasury.status',
    'payouts.statement',
    'ledger.verify',
  ];
  const changing = [
    'keys.create',
    'contracts.deploy',
    'networks.resume',
    'payouts.approve',
    'stores.setWebhookKey',
  ];
  const split = (name: string) => name.split('.') as [string, string];
  expect(reading.filter((name) => !isReading(...split(name)))).toEqual([]);
  expect(changing.filter((name) => isReading(...split(name)))).toEqual([]);
  expect([isReading('stores', 'webhookKey'), isReading('keys', 'webhookKey')]).toEqual([true, false]);
});

test('an operation that nobody has heard of is recorded, and answers as before', async () => {
  const { platform, close } = await openPlatform();
  try {
    const groups = { novel: { transmute: async (what: string, into: string) => `${what} into ${into}` } };
    const { novel } = auditOperations(platform as unknown as App, groups);
    expect(await novel.transmute('lead', 'gold')).toBe('lead into gold');
    const entries = await listEntries(platform.db, NIL_ID, { limit: 10 });
    expect(entries.map(({ action, phase }) => `${action} ${phase}`)).toEqual([
      'novel.transmute done',
      'novel.transmute attempted',
    ]);
  } finally {
    await close();
  }
});

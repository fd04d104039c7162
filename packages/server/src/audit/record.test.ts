import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../../../test/platform.ts';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Platform } from '../platform/platform.ts';
import { type AuditEntry, audited, exportEntries, listEntries, verifyAudit } from './index.ts';
import { recordChange } from './record.ts';

let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

const changeOf = (merchantId: string) => ({
  merchantId,
  actor: { kind: 'cli' as const, id: 'ann@desk' },
  origin: 'desk',
  action: 'settings.set',
});
const record = (merchantId: string, note: unknown) =>
  transact(platform.db, (tx) => recordChange(tx, platform, changeOf(merchantId), { after: note }));

async function logOf(count: number): Promise<string> {
  const merchantId = newId();
  for (let i = 1; i <= count; i += 1) await record(merchantId, `change ${i}`);
  return merchantId;
}
const faultsOf = async (merchantId: string, noted?: { number: bigint; hash: Buffer }) => {
  const [report] = await verifyAudit(platform, { merchantId, noted });
  return report?.faults.map(({ number, fault }) => `${number} ${fault}`);
};

test('a change is recorded with who, what, from where, before and after', async () => {
  const merchantId = newId();
  let limit = 1;
  const result = await audited(platform, changeOf(merchantId), {
    input: ['limit', { token: 'hidden' }],
    read: async () => ({ limit }),
    work: async () => {
      limit = 2;
      return { secret_key: 'hidden' };
    },
  });
  expect(result).toEqual({ secret_key: 'hidden' });
  const [done, attempted] = await listEntries(platform.db, merchantId, { limit: 10 });
  const common = { actor_kind: 'cli', actor: 'ann@desk', origin: 'desk', action: 'settings.set' };
  expect(attempted).toMatchObject({
    ...common,
    number: 1,
    phase: 'attempted',
    attempt: null,
    details: { input: ['limit', { token: '[redacted]' }], before: { limit: 1 } },
  });
  expect(done).toMatchObject({
    ...common,
    number: 2,
    phase: 'done',
    attempt: 1,
    details: { after: { limit: 2 }, result: { secret_key: '[redacted]' } },
  });
  expect(await faultsOf(merchantId)).toEqual([]);
});

test('a change that fails is recorded as failed, and its error goes on', async () => {
  const merchantId = newId();
  const work = () => Promise.reject(new Error('the limit is too high, token=abcdef'));
  await expect(audited(platform, changeOf(merchantId), { input: [], work })).rejects.toThrow('too high');
  const [failed] = await listEntries(platform.db, merchantId, { limit: 1 });
  expect(failed).toMatchObject({
    phase: 'failed',
    attempt: 1,
    details: { error: 'the limit is too high, token=[redacted]' },
  });
});

test('what cannot be recorded does not begin', async () => {
  let begun = false;
  const work = async () => {
    begun = true;
  };
  const broken = {
    ...platform,
    vault: {
      mark: () => {
        throw new Error('no key');
      },
    } as never,
  };
  await expect(audited(broken, changeOf(newId()), { input: [], work })).rejects.toThrow('no key');
  expect(begun).toBe(false);
});

test('a change that is rolled back leaves no entry, and one that dies after its attempt leaves that', async () => {
  const merchantId = await logOf(1);
  const undone = transact(platform.db, async (tx) => {
    await recordChange(tx, platform, changeOf(merchantId), {});
    throw new Error('rolled back');
  });
  await expect(undone).rejects.toThrow('rolled back');
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: never } = Promise.withResolvers<void>();
  // Nobody waits for it: as if the process had died in the middle.
  const work = async () => {
    begin();
    await never;
  };
  void audited(platform, changeOf(merchantId), { input: [], work });
  await begun;
  await record(merchantId, 'the next one');
  const entries = await listEntries(platform.db, merchantId, { limit: 10 });
  expect(entries.map(({ number, phase }) => `${number} ${phase}`)).toEqual([
    '3 done',
    '2 attempted',
    '1 done',
  ]);
  expect(await faultsOf(merchantId)).toEqual([]);
});

test('entries that several write at once are one chain without gaps', async () => {
  const merchantId = newId();
  await Promise.all(Array.from({ length: 40 }, (_, i) => record(merchantId, i)));
  const [report] = await verifyAudit(platform, { merchantId });
  expect(report).toMatchObject({ entries: 40, faults: [] });
});

test('merchants have chains of their own: a long change of one holds up no other', async () => {
  const [one, other] = [newId(), newId()];
  await transact(platform.db, async (tx) => {
    await recordChange(tx, platform, changeOf(one), {});
    await record(other, 'meanwhile');
  });
  expect([await faultsOf(one), await faultsOf(other)]).toEqual([[], []]);
});

test('fault 83: a changed, missing, moved, added or cut off entry is found', async () => {
  const plant = async (change: (merchantId: string) => Promise<unknown>) => {
    const merchantId = await logOf(4);
    await change(merchantId);
    return await faultsOf(merchantId);
  };
  const { db } = platform;
  const changed = await plant((id) =>
    sql`update audit_entry set details = replace(details, 'change 2', 'change 3')
        where merchant_id = ${id} and number = 2`.execute(db),
  );
  const oneByte = await plant((id) =>
    sql`update audit_entry set hash = set_byte(hash, 5, (get_byte(hash, 5) + 1) % 256)
        where merchant_id = ${id} and number = 3`.execute(db),
  );
  const missing = await plant((id) =>
    sql`delete from audit_entry where merchant_id = ${id} and number = 2`.execute(db),
  );
  const last = await plant((id) =>
    sql`delete from audit_entry where merchant_id = ${id} and number = 4`.execute(db),
  );
  const moved = await plant(async (id) => {
    for (const [from, to] of [
      [2, 9],
      [3, 2],
      [9, 3],
    ])
      await sql`update audit_entry set number = ${to} where merchant_id = ${id} and number = ${from}`.execute(
        db,
      );
  });
  const headless = await plant((id) => sql`delete from audit_head where merchant_id = ${id}`.execute(db));
  const added = await plant((id) =>
    sql`insert into audit_entry
        select merchant_id, 5, at_ms, actor_kind, actor, origin, action, phase, attempt, request_id, details, hash, hash, seal
        from audit_entry where merchant_id = ${id} and number = 4`.execute(db),
  );
  expect({ changed, oneByte, missing, last, moved, headless, added }).toEqual({
    changed: ['2 changed'],
    oneByte: ['3 changed', '4 unlinked'],
    missing: ['2 missing'],
    last: ['4 missing'],
    moved: ['2 changed', '3 changed', '4 unlinked'],
    headless: ['4 head'],
    added: ['5 changed', '5 head'],
  });
});

test('entries that were cut off with their head are found by a head that was noted', async () => {
  const merchantId = await logOf(3);
  const [report] = await verifyAudit(platform, { merchantId });
  const [number = '', hash = ''] = report?.head.split(':') ?? [];
  const noted = { number: BigInt(number), hash: Buffer.from(hash, 'hex') };
  expect(await faultsOf(merchantId, noted)).toEqual([]);
  await sql`delete from audit_entry where merchant_id = ${merchantId} and number = 3`.execute(platform.db);
  await sql`
    update audit_head set (number, hash) = (select number, hash from audit_entry where merchant_id = ${merchantId} and number = 2)
    where merchant_id = ${merchantId}`.execute(platform.db);
  expect(await faultsOf(merchantId)).toEqual([]);
  expect(await faultsOf(merchantId, noted)).toEqual(['3 not_as_noted']);
  await record(merchantId, 'another third one');
  expect(await faultsOf(merchantId, noted)).toEqual(['3 not_as_noted']);
});

test('an export has every entry, oldest first, and entries are paged', async () => {
  const merchantId = await logOf(3);
  const all: AuditEntry[] = [];
  for await (const entry of exportEntries(platform.db, merchantId)) all.push(entry);
  expect(all.map(({ details }) => details)).toEqual([1, 2, 3].map((i) => ({ after: `change ${i}` })));
  expect(all[1]?.previous_hash).toBe(all[0]?.hash);
  const page = await listEntries(platform.db, merchantId, { limit: 1, before: 3 });
  expect(page.map(({ number }) => number)).toEqual([2]);
});

import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Alarm } from './alarm.ts';
import { createJournal } from './journal.ts';
import { readPolicy } from './policy.ts';
import type { SignRequest } from './protocol.ts';
import { Signer } from './signer.ts';
import { approvedOn, paymentOn, tronPaying, tronRequest } from './test-once.ts';
import { allNetworksText, policyText } from './test-policy.ts';
import { approved, keys, OTHER_BATCH, payBytes, payment, request, START } from './test-requests.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-networks-signer-'));
const open: Signer[] = [];
let files = 0;

afterEach(async () => {
  for (const signer of open.splice(0)) await signer.close();
});

function newJournal(): string {
  files += 1;
  const file = path.join(folder, `${files}.journal`);
  createJournal(file, keys.fingerprint, START);
  return file;
}

/** With the policy of before, which names erc20 alone, or of all networks. */
async function start(
  journalFile: string,
  policy: object = allNetworksText(),
  clock = START,
  events: string[] = [],
): Promise<Signer> {
  const signer = await Signer.open({
    keys,
    policy: readPolicy(JSON.stringify(policy)),
    journalFile,
    checkPassphrase: async () => {},
    log: (event) => void events.push(event),
    clock: () => clock,
  });
  open.push(signer);
  return signer;
}

const stop = async (signer: Signer) => {
  open.splice(open.indexOf(signer), 1);
  await signer.close();
};

const outcome = async (signer: Signer, asked: SignRequest) =>
  await signer.sign(asked).then(
    () => 'signed',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );

const batch = approved(payment());
const onEthereum = request({ bytes: payBytes(batch), purpose: batch });
const item = approvedOn('trc20', paymentOn('trc20', { id: OTHER_BATCH }));
const onTron = (ordinal: number, time = START) =>
  tronRequest({ ordinal, purpose: item, bytes: { contract: tronPaying(item), time } });

test('a journal and a policy of before, with erc20 alone, open as they did, and then hold all networks', async () => {
  const file = newJournal();
  const old = await start(file, policyText());
  const { raw } = await old.sign(onEthereum);
  expect(await outcome(old, onTron(0))).toBe('policy');
  await stop(old);
  expect(readFileSync(file, 'utf8')).not.toMatch(/sign_once|"network"/);
  const signer = await start(file);
  expect((await signer.sign(onEthereum)).raw).toBe(raw);
  const first = await signer.sign(onTron(0));
  await stop(signer);
  // Taken out of the policy again, Tron gets nothing, and its lines are still read.
  const back = await start(file, policyText());
  expect((await back.sign(onEthereum)).raw).toBe(raw);
  expect(await outcome(back, onTron(0))).toBe('policy');
  await stop(back);
  expect((await (await start(file)).sign(onTron(0, START + 1))).raw).toBe(first.raw);
});

test('a signer that was put back to before a signature refuses whoever knows of it', async () => {
  const file = newJournal();
  const signer = await start(file);
  await signer.sign(onEthereum);
  const backup = `${file}.backup`;
  copyFileSync(file, backup);
  const { journal } = await signer.sign(onTron(0));
  await stop(signer);
  const restored = await start(backup);
  expect(await outcome(restored, { ...onTron(0, START + 1), journal })).toBe('journal');
  expect(await outcome(restored, { ...onTron(1, START + 1), journal })).toBe('journal');
  // It does not know the attempt before, and asks for it.
  expect(await outcome(restored, onTron(1, START + 1))).toBe('unknown_attempts');
});

test('requests that come too early do not freeze a signer; those for something else do', async () => {
  const signer = await start(newJournal());
  await signer.sign(onTron(0));
  const asked = (n: number, purpose = item) => {
    const early = onTron(1, START + n);
    return { ...early, purpose, attempt: { ...early.attempt, attemptId: `early ${n}` } };
  };
  for (let n = 1; n <= 10; n++) expect(await outcome(signer, asked(n))).toBe('limit');
  expect(signer.status().frozen).toBeNull();
  const other = { ...item, items: item.items.map((one) => ({ ...one, amount: '7' })) };
  for (let n = 11; n <= 15; n++) expect(await outcome(signer, asked(n, other))).toBe('purpose');
  expect(signer.status().frozen?.reason).toBe('5 attempts were refused within a minute');
  expect(await outcome(signer, onTron(0))).toBe('frozen');
});

test('the status says what is left of a day of top-ups, also to a clock that was put back', async () => {
  const file = newJournal();
  const leftOf = (signer: Signer) =>
    signer.status().networks.flatMap((one) => ('gasTopUpsLeft' in one ? [one.gasTopUpsLeft] : []));
  const signer = await start(file);
  const [ether, all] = leftOf(signer);
  const contract = {
    kind: 'transfer',
    owner: keys.trc20.hot(0).address,
    to: keys.trc20.hot(1).address,
    amount: 7n,
  } as const;
  const purpose = { kind: 'gas', account: 1 } as const;
  const asked = tronRequest({ account: 0, ordinal: 0, purpose, bytes: { contract, time: START } });
  expect(await outcome(signer, asked)).toBe('signed');
  const used = [ether, String(BigInt(all ?? 0) - 7n)];
  expect(leftOf(signer)).toEqual(used);
  await stop(signer);
  const back = await start(file, allNetworksText(), START - 7 * 86_400_000);
  expect(leftOf(back)).toEqual(used);
  await stop(back);
  // What a policy allows less of than was given is used up.
  const less = allNetworksText() as { networks: { trc20: object } };
  Object.assign(less.networks.trc20, { gas_top_up: '6', gas_top_ups_per_day: '6' });
  const copy = newJournal();
  copyFileSync(file, copy);
  expect(leftOf(await start(copy, less, START))).toEqual([ether, '0']);
  expect(leftOf(await start(file, allNetworksText(), START + 86_400_000))).toEqual([ether, all]);
});

test('requests of one attempt that come together get one transaction', async () => {
  const signer = await start(newJournal());
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => signer.sign(onTron(0, START + n))));
  expect(new Set(answers.map(({ raw }) => raw)).size).toBe(1);
  // The first line, the start and one signature.
  expect(signer.status().journal.entries).toBe(3);
});

test('a start with a clock that was days ahead takes nothing for expired once the clock is right, and says so', async () => {
  const file = newJournal();
  const policy = { ...allNetworksText(), freeze_after_refusals: 1 };
  await stop(await start(file, policy, START + 7 * 86_400_000));
  const events: string[] = [];
  const signer = await start(file, policy, START, events);
  expect(events).toEqual(['clock_behind']);
  expect(await outcome(signer, onEthereum)).toBe('signed');
  expect(await outcome(signer, onTron(0))).toBe('signed');
  // What ended by the clock has ended, and nothing is signed for longer than ten minutes.
  expect(await outcome(signer, onTron(1, START - 60_000))).toBe('limit');
  expect(signer.status().frozen).toBeNull();
  expect(await outcome(signer, onTron(1, START + 7 * 86_400_000))).not.toBe('signed');
});

test('a start with a clock a quarter of an hour ahead lets no item be signed a second time while the first one is alive', async () => {
  const file = newJournal();
  await stop(await start(file, allNetworksText(), START + 900_000));
  const signer = await start(file);
  expect(await outcome(signer, onTron(0))).toBe('signed');
  expect(await outcome(signer, onTron(1, START + 1))).toBe('limit');
});

test('limits that are used up do not come back with a clock that is put back', async () => {
  const file = newJournal();
  const policy = allNetworksText();
  policy.payouts.per_hour = policy.payouts.per_transfer = '3';
  const ahead = await start(file, policy, START + 1_800_000);
  expect(await outcome(ahead, onEthereum)).toBe('signed');
  await stop(ahead);
  const events: string[] = [];
  const signer = await start(file, policy, START, events);
  expect(events).toEqual(['clock_behind']);
  const [other, third] = ['01890000-0000-7000-8000-0000000000d1', '01890000-0000-7000-8000-0000000000d2'].map(
    (id) => approved(payment({ id })),
  );
  for (const [i, purpose] of [other, third].entries())
    if (purpose !== undefined)
      expect(
        await outcome(
          signer,
          request({ ordinal: 1, attempt: `again ${i}`, bytes: payBytes(purpose), purpose }),
        ),
      ).toBe('limit');
});

test('refusals that came before the clock was put back are no part of a minute after it', () => {
  const alarm = new Alarm(3);
  const day = 86_400_000;
  expect(alarm.refused('purpose', 'a', START + day)).toBeUndefined();
  expect(alarm.refused('purpose', 'b', START + day)).toBeUndefined();
  expect(alarm.refused('purpose', 'c', START)).toBeUndefined();
  expect(alarm.refused('purpose', 'd', START + 1)).toBeUndefined();
  expect(alarm.refused('purpose', 'e', START + 2)).toBe(3);
});

test('honest mistakes of time do not freeze a signer: valid for too long by its clock, or the same bytes for another attempt', async () => {
  const signer = await start(newJournal());
  const signed = onTron(0);
  await signer.sign(signed);
  for (let n = 1; n <= 10; n++) {
    const attempt = { ...onTron(1).attempt, attemptId: `mistake ${n}` };
    expect(await outcome(signer, { ...onTron(1, START + 900_000 + n), attempt })).toBe('limit');
    expect(await outcome(signer, { ...signed, attempt: { ...attempt, attemptId: `twin ${n}` } })).toBe(
      'limit',
    );
  }
  expect(signer.status().frozen).toBeNull();
});

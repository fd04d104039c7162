import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KEPT_MAX } from './accounts.ts';
import { SignerClient } from './client.ts';
import { createJournal } from './journal.ts';
import { readPolicy } from './policy.ts';
import { Recent } from './recent.ts';
import { Signer } from './signer.ts';
import {
  approvedOn,
  itemOf,
  MINT,
  memo,
  OnceBench,
  paymentOn,
  solana,
  solanaPaying,
  solanaRequest,
  tronPaying,
  tronRequest,
} from './test-once.ts';
import { allNetworksText } from './test-policy.ts';
import { keys, MERCHANTS, START } from './test-requests.ts';

const onTron = approvedOn('trc20', paymentOn('trc20'));
const onSolana = approvedOn('spl', paymentOn('spl'));
const EVE = solana.deposit(666, 0);
/** The same attempt, built from another block. */
const askedOnTron = (time = START) =>
  tronRequest({ purpose: onTron, bytes: { contract: tronPaying(onTron), time } });
const askedOnSolana = (blockhash = MINT) =>
  solanaRequest({ purpose: onSolana, bytes: { steps: solanaPaying(onSolana), blockhash } });

test('an attempt that was signed gets its bytes whatever the ceilings are now, and a new one does not', () => {
  const bench = new OnceBench();
  const first = [bench.sign(askedOnTron()), bench.sign(askedOnSolana())];
  const lower = new OnceBench(({ payouts, networks: { trc20, spl } }) => {
    Object.assign(trc20, { fee_limit: '1', native_fee_per_day: '1' });
    Object.assign(spl, { compute_units: 1, priority_fee: '1', native_fee_per_day: '1' });
    Object.assign(payouts, { per_transfer: '0.5', per_hour: '0.5', per_day: '0.5', per_merchant_day: '0.5' });
  });
  expect(lower.outcome(askedOnTron())).toMatch(/^fee: fee_limit/);
  expect(lower.outcome(askedOnSolana())).toMatch(/^fee: compute_units/);
  lower.memory = bench.memory;
  // Also by a clock that was put back by an hour.
  lower.now = START - 3_600_000;
  expect([lower.sign(askedOnTron(START + 5)), lower.sign(askedOnSolana(EVE))]).toEqual(first);
  expect(lower.entries).toEqual([]);
  // For another purpose, or while the signer is frozen, there is nothing.
  const other = approvedOn('spl', paymentOn('spl', { items: [itemOf('spl', 0, '7')] }));
  expect(lower.outcome(solanaRequest({ purpose: other, bytes: { steps: solanaPaying(other) } }))).toMatch(
    /^purpose: /,
  );
  lower.apply({ type: 'freeze', at: lower.now, reason: 'drill' });
  expect(lower.outcome(askedOnTron())).toMatch(/^frozen: /);
});

test('a memo that people approved goes with its own payment, once', () => {
  const items = [
    { ...itemOf('spl', 0), memo: 'first' },
    { ...itemOf('spl', 1), memo: 'second' },
  ];
  const purpose = approvedOn('spl', paymentOn('spl', { items }));
  const ask = (steps: ReturnType<typeof solanaPaying>) =>
    new OnceBench().outcome(solanaRequest({ purpose, bytes: { steps } }));
  const [named, , one, , two] = solanaPaying(purpose);
  if (named === undefined || one === undefined || two === undefined) throw new Error('five steps');
  const [first, second] = [memo('first'), memo('second')];
  expect(ask([named, first, one, second, two])).toBe('signed');
  for (const steps of [
    [named, second, one, first, two],
    [named, first, one, two],
    [named, first, second, one, two],
    [named, first, first, one, second, two],
    [named, first, one, second, two, second],
    [named, first, one, first, two],
    [first, named, one, second, two],
  ])
    expect(ask(steps)).toMatch(/^purpose: /);
});

test('where the policy names accounts of a network, no other account pays there', () => {
  const other = approvedOn('trc20', paymentOn('trc20', { merchant: MERCHANTS[1] }));
  const asked = tronRequest({ account: 2, purpose: other, bytes: { contract: tronPaying(other, 2) } });
  const named = (accounts: Record<string, string>) =>
    new OnceBench(({ networks: { trc20 } }) => Object.assign(trc20, { accounts }));
  const bench = named({ 1: MERCHANTS[0] });
  expect(bench.outcome(askedOnTron())).toBe('signed');
  expect(bench.outcome(asked)).toBe('policy: accounts of the policy for trc20 do not name account 2.');
  expect(named({}).outcome(askedOnTron())).toMatch(/^policy: accounts of the policy/);
  expect(named({ 1: MERCHANTS[0], 2: MERCHANTS[1] }).outcome(asked)).toBe('signed');
  // Other networks have accounts of their own.
  expect(bench.outcome(askedOnSolana())).toBe('signed');
});

test('two hundred addresses leave room for other calls, and what is kept has a bound', async () => {
  const journalFile = path.join(mkdtempSync(path.join(tmpdir(), 'florin-known-')), 'journal');
  createJournal(journalFile, keys.fingerprint, START);
  const signer = await Signer.open({
    keys,
    policy: readPolicy(JSON.stringify(allNetworksText())),
    journalFile,
    checkPassphrase: async () => {},
    log: () => {},
    clock: () => START,
  });
  onTestFinished(() => signer.close());
  let [turns, isDone] = [0, false];
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const { addresses } = await signer.addresses({ network: 'spl', account: 1, from: 0, count: 200 });
  isDone = true;
  expect([addresses.length, new Set(addresses).size]).toEqual([200, 200]);
  expect(turns).toBeGreaterThan(20);
  const kept = new Recent<number, number>(KEPT_MAX);
  for (let n = 0; n < KEPT_MAX + 100; n++) expect(kept.get(n, () => -n)).toBe(-n);
  expect(kept.size).toBe(KEPT_MAX);
  expect([kept.get(KEPT_MAX, () => 7), kept.get(0, () => 7)]).toEqual([-KEPT_MAX, 7]);
});

test('a server that cannot read what an older signer answers says what to do', async () => {
  const socket = path.join(mkdtempSync(path.join(tmpdir(), 'florin-older-')), 'signer.sock');
  let answer: object = { network: 'erc20', account: 1, extendedPublicKey: 'xpub', hot: '0x' };
  const server = createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  const client = new SignerClient({ socket });
  onTestFinished(() => {
    client.close();
    server.close();
  });
  const ask = () => client.account({ network: 'erc20', account: 1 });
  await expect(ask()).rejects.toThrow(
    /^the signer is of an older version, .*: update the signer first, then the server\.$/,
  );
  answer = { ...answer, version: '0.0.9' };
  await expect(ask()).rejects.toThrow(/^the signer is of version 0\.0\.9, .* \(epoch is missing/);
});

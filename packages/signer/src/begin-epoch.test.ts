import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeFunctionData, type Hex, parseTransaction, recoverTransactionAddress } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { Collector } from '../../../contracts/artifacts/index.ts';
import { toHex } from './bytes.ts';
import { SignerClient, SignerRefused } from './client.ts';
import { collectorAccount } from './contracts.ts';
import { createJournal } from './journal.ts';
import { SignerMistake } from './mistake.ts';
import { readPolicy } from './policy.ts';
import { serveSigner } from './server.ts';
import { Signer } from './signer.ts';
import { policyText } from './test-policy.ts';
import { accounts, approved, keys, payBytes, payment, request, START } from './test-requests.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-epochs-'));
const PASSPHRASE = 'correct horse battery';
const ACCOUNT = 1;
const closing: (() => Promise<void>)[] = [];
let runs = 0;

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function newName(): string {
  runs += 1;
  return path.join(folder, String(runs));
}

function newJournal(): string {
  const file = `${newName()}.journal`;
  createJournal(file, accounts.fingerprint, START);
  return file;
}

/** A signer on a socket. */
async function start(journalFile = newJournal()) {
  const log: string[] = [];
  const signer = await Signer.open({
    keys,
    policy: readPolicy(JSON.stringify(policyText())),
    journalFile,
    checkPassphrase: async (given) => {
      await new Promise(setImmediate);
      if (given !== PASSPHRASE) throw new SignerMistake('passphrase', 'the passphrase is wrong.');
    },
    log: (event, facts) => void log.push(JSON.stringify({ event, ...facts })),
    clock: () => START,
  });
  const socket = `${newName()}.sock`;
  const server = await serveSigner(signer, { socket }, () => {});
  const client = new SignerClient({ socket });
  let stopped: Promise<void> | undefined;
  const end = async () => {
    client.close();
    await server.stop();
    await signer.close();
  };
  const stop = () => (stopped ??= end());
  closing.push(stop);
  const begin = (epoch: number, passphrase = PASSPHRASE) =>
    client.beginEpoch({ network: 'erc20', account: ACCOUNT, epoch, passphrase });
  const account = () => client.account({ network: 'erc20', account: ACCOUNT });
  return { client, begin, account, journalFile, stop, log };
}

/** The code and words of a refusal. */
async function refusalOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'answered',
    (error: unknown) => (error instanceof SignerRefused ? `${error.code}: ${error.message}` : String(error)),
  );
}

const batch = approved(payment());
const pay = (epoch: number) => request({ account: ACCOUNT, epoch, bytes: payBytes(batch), purpose: batch });

test('an epoch begins by the passphrase alone, once, and is there after a restart', async () => {
  const one = await start();
  const { journal: before } = await one.client.status();
  expect(await refusalOf(one.begin(1, 'wrong horse battery'))).toMatch(/^invalid_request: the passphrase/);
  expect((await one.client.status()).journal).toEqual(before);
  const begun = await one.begin(1);
  const hot = accounts.hot(ACCOUNT, 1).address;
  expect(begun).toMatchObject({ epoch: 1, hot, journal: { entries: before.entries + 1 } });
  // Asked for again, it changes nothing.
  expect(await one.begin(1)).toEqual(begun);
  expect(await one.account()).toMatchObject({ epoch: 1, hot });
  await one.stop();
  const two = await start(one.journalFile);
  expect(await two.account()).toMatchObject({ epoch: 1, hot });
  expect(await refusalOf(two.client.sign(pay(0)))).toMatch(/^epoch: .*was rotated/);
  const { raw } = await two.client.sign(pay(1));
  expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(hot);
  expect([...one.log, readFileSync(one.journalFile, 'utf8')].join()).not.toContain(PASSPHRASE);
});

test('epochs follow each other, and the gas tank has none', async () => {
  const { begin, client, account } = await start();
  expect(await refusalOf(begin(2))).toMatch(/^epoch: account 1 is in epoch 0, so epoch 2 cannot begin/);
  await begin(1);
  await begin(2);
  for (const epoch of [0, 1, 4]) expect(await refusalOf(begin(epoch))).toMatch('they follow each other');
  const tank = client.beginEpoch({ network: 'erc20', account: 0, epoch: 1, passphrase: PASSPHRASE });
  expect(await refusalOf(tank)).toMatch(/^epoch: account 0 is the gas tank/);
  expect(await account()).toMatchObject({ epoch: 2 });
});

test('two that begin an epoch at once get one, and what was signed before it stays signed', async () => {
  const { begin, client } = await start();
  const { journal } = await client.status();
  const early = await client.sign(pay(0));
  const [a, b] = await Promise.all([begin(1), begin(1)]);
  expect(a.hot).toBe(b.hot);
  expect((await client.status()).journal.entries).toBe(journal.entries + 2);
  expect(early.raw).toMatch(/^0x02/);
  expect(await refusalOf(client.sign(pay(0)))).toMatch(/^epoch: /);
});

test('a signer that was put back to before an epoch signs nothing for whoever knows of it', async () => {
  const one = await start();
  const backup = `${newName()}.journal`;
  copyFileSync(one.journalFile, backup);
  const { journal } = await one.begin(1);
  await one.stop();
  const old = await start(backup);
  expect(await refusalOf(old.client.sign({ ...pay(0), journal }))).toMatch(/^journal: /);
  expect(await refusalOf(old.client.sign(pay(1)))).toMatch(/^epoch: epoch 1 of account 1 has not begun/);
  expect(await old.client.checkJournal(journal)).toMatchObject({ known: false });
});

test('epochs are not what freezes a signer, and a frozen one begins them all the same', async () => {
  const { begin, client } = await start();
  await begin(1);
  for (let n = 0; n < 10; n++)
    await refusalOf(
      client.sign(
        request({ account: ACCOUNT, epoch: 0, attempt: `old ${n}`, bytes: payBytes(batch), purpose: batch }),
      ),
    );
  expect((await client.status()).frozen).toBeNull();
  await client.freeze('drill');
  expect(await begin(2)).toMatchObject({ epoch: 2 });
});

test('the owner gives its account at the collector to the present hot wallet, by the passphrase', async () => {
  const { begin, client } = await start();
  await begin(1);
  const call = {
    network: 'erc20',
    account: ACCOUNT,
    epoch: 1,
    nonce: '7',
    maxFeePerGas: '30000000000',
    maxPriorityFeePerGas: '1000000000',
    passphrase: PASSPHRASE,
  } as const;
  const owner = accounts.owner(ACCOUNT).address;
  const id = toHex(collectorAccount(owner, accounts.hot(ACCOUNT).address));
  for (const [what, called] of [
    ['operator', 'setOperator'],
    ['home', 'moveHome'],
  ] as const) {
    const signed = await client.ownerCall({ ...call, what });
    if (!('raw' in signed)) throw new Error('the owner is a key of the signer');
    expect(signed).toMatchObject({ owner, collectorAccount: id });
    const raw = signed.raw as `0x02${string}`;
    expect(await recoverTransactionAddress({ serializedTransaction: raw })).toBe(owner);
    const tx = parseTransaction(raw);
    expect(tx.nonce).toBe(7);
    const { functionName, args } = decodeFunctionData({ abi: Collector.abi, data: tx.data as Hex });
    expect([functionName, args]).toEqual([called, [id, accounts.hot(ACCOUNT, 1).address]]);
  }
  const asked = (changes: object) => refusalOf(client.ownerCall({ ...call, what: 'home', ...changes }));
  expect(await asked({ epoch: 0 })).toMatch(/^epoch: account 1 is in epoch 1, not in 0/);
  expect(await asked({ passphrase: 'wrong horse battery' })).toMatch(/^invalid_request: the passphrase/);
  expect(await asked({ maxFeePerGas: '201000000000' })).toMatch('above the ceilings');
  expect(await asked({ address: owner })).toMatch(/^invalid_request: /);
});

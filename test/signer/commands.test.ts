import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approversOf } from '../../packages/signer/src/approvals.ts';
import { addressOf, factsOfWords } from '../../packages/signer/src/index.ts';
import { florin } from '../florin-command.ts';
import { giveInput } from '../give-input.ts';
import { FLORIN } from '../programs.ts';
import {
  makeSignerFolder,
  PASSPHRASE,
  type SignerFolder,
  type SignerProcess,
  startSigner,
  WORDS,
} from './signer-process.ts';

// Each test starts several processes.

const folder = mkdtempSync(path.join(tmpdir(), 'florin-signer-commands-'));
const at = (name: string) => path.join(folder, name);
let files: SignerFolder;
let signer: SignerProcess;

beforeAll(async () => {
  files = await makeSignerFolder();
  signer = await startSigner(files);
});

afterAll(async () => {
  await signer.stop();
});

const run = (...words: string[]) => florin(['signer', ...words]);
const call = (...words: string[]) => run(...words, '--signer', `unix:${files.socket}`, '--json');

/** Types back what it is shown, as `change` makes it. */
async function initTyping(name: string, change: (words: string) => string) {
  const words = ['--key-file', at(`${name}.json`), '--journal', at(`${name}.journal`)];
  const child = spawn(
    process.execPath,
    [FLORIN, 'signer', 'init', ...words, '--passphrase-file', files.passphraseFile, '--json'],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let [shown, printed, told] = ['', '', false];
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    shown += chunk;
    const line = shown.split('\n').find((one) => one.split(' ').length === 24 && /^[a-z ]+$/.test(one));
    if (line === undefined || told) return;
    told = true;
    giveInput(child.stdin, `${change(line)}\n`);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, shown, printed };
}

test('init makes keys from words that are typed back once', async () => {
  const { code, printed, shown } = await initTyping('made', (words) => words);
  expect(code, shown).toBe(0);
  const facts = JSON.parse(printed);
  expect(statSync(at('made.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(at('made.json'), 'utf8')).toContain(facts.fingerprint);
  const swapped = await initTyping('wrong', (words) => words.split(' ').toReversed().join(' '));
  expect(swapped.code).toBe(1);
  expect(existsSync(at('wrong.json'))).toBe(false);
  // Before any word is shown.
  writeFileSync(at('short'), 'short', { mode: 0o600 });
  const flags = [
    '--key-file',
    at('more.json'),
    '--passphrase-file',
    at('short'),
    '--journal',
    at('more.journal'),
  ];
  expect((await run('init', ...flags)).stderr).toBe('florin: the passphrase needs at least 12 characters.\n');
  const taken = ['--key-file', at('more.json'), '--passphrase-file', files.passphraseFile];
  const again = await run('init', ...taken, '--journal', at('made.journal'));
  expect(again.stderr).toMatch(
    /^florin: \S+made\.journal exists and is not overwritten: give another name\.\n$/,
  );
  expect(existsSync(at('more.json'))).toBe(false);
});

test('a backup restores the same keys, and is checked against them', async () => {
  const words = ['--key-file', at('restored.json'), '--journal', at('restored.journal')];
  const restored = await florin(
    ['signer', 'init', '--restore', ...words, '--passphrase-file', files.passphraseFile, '--json'],
    { input: WORDS },
  );
  expect(JSON.parse(restored.stdout)).toMatchObject(factsOfWords(WORDS));
  const check = (input: string) =>
    florin(['signer', 'backup-check', '--key-file', at('restored.json'), '--json'], { input });
  expect(JSON.parse((await check(WORDS)).stdout).matches).toBe(true);
  const other = await check(`${'zoo '.repeat(23)}vote`);
  expect([other.code, JSON.parse(other.stderr).error.code]).toEqual([1, 'words']);
  expect(other.stderr).not.toContain('zoo');
});

test('a running signer is asked, frozen and unfrozen', async () => {
  expect(JSON.parse((await call('export-xpub', '1')).stdout).hot).toBe(factsOfWords(WORDS).first);
  const wallets = [
    call('export-xpub', '1', '--network', 'trc20'),
    call('export-xpub', '1', '--network', 'spl'),
  ];
  const [tron, solana] = (await Promise.all(wallets)).map(({ stdout }) => JSON.parse(stdout));
  expect(tron).toMatchObject({
    extendedPublicKey: expect.stringMatching(/^xpub/),
    hot: expect.stringMatching(/^T/),
  });
  expect(solana).toEqual({
    version: expect.any(String),
    network: 'spl',
    account: 1,
    hot: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
  });
  expect(JSON.parse((await call('freeze', '--reason', 'drill')).stdout)).toMatchObject({ reason: 'drill' });
  expect(JSON.parse((await call('status')).stdout).frozen.reason).toBe('drill');
  writeFileSync(at('other'), 'wrong horse battery', { mode: 0o600 });
  const wrong = await call('unfreeze', '--passphrase-file', at('other'));
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('does not open the key file')]);
  expect(JSON.parse((await call('unfreeze', '--passphrase-file', files.passphraseFile)).stdout)).toEqual({
    frozen: false,
  });
  expect((await run('status', '--signer', `unix:${files.socket}`)).stdout).toContain(
    'ada (ed25519), bob (ethereum)',
  );
  const down = await run('status', '--signer', 'unix:/nonexistent.sock', '--json');
  expect([down.code, JSON.parse(down.stderr).error.code]).toEqual([1, 'signer_unavailable']);
  expect((await run('status', '--signer', 'ftp://a')).code).toBe(2);
  // Nothing of the secrets is in what it wrote.
  expect(signer.log.join('\n')).not.toMatch(new RegExp(`${PASSPHRASE}|abandon`));
});

test('a signer with a new journal is told by passphrase in which epoch an account is', async () => {
  const begin = async (epoch: string, file = files.passphraseFile) =>
    await call('begin-epoch', '7', epoch, '--passphrase-file', file);
  const wrong = await begin('1', at('other'));
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('does not open the key file')]);
  expect(JSON.parse((await begin('1')).stdout)).toMatchObject({ account: 7, epoch: 1 });
  const twice = await begin('3');
  expect([twice.code, JSON.parse(twice.stderr).error]).toEqual([
    1,
    { code: 'epoch', message: expect.stringContaining('they follow each other') },
  ]);
  expect(JSON.parse((await call('export-xpub', '7')).stdout)).toMatchObject({ epoch: 1 });
  expect((await run('begin-epoch', '7', 'two', '--passphrase-file', files.passphraseFile)).code).toBe(2);
});

test('each file that is not as it should be is refused in one line, and nothing listens', async () => {
  const start = async (changes: Partial<SignerFolder>) =>
    await startSigner({ ...files, socket: at('none.sock'), ...changes }).then(
      () => 'started',
      (error: Error) => error.message,
    );
  writeFileSync(at('policy.json'), '{"florin_policy": 1}', { mode: 0o600 });
  expect(await start({ policy: at('policy.json') })).toMatch(/"the policy: networks is missing\."/);
  expect(await start({ policy: at('none') })).toMatch(/the policy .* does not exist/);
  expect(await start({ passphraseFile: at('other') })).toMatch('does not open the key file');
  expect(await start({ journal: at('none') })).toMatch('florin signer init makes it');
  expect(await start({})).toMatch('another signer runs on this journal');
  writeFileSync(at('open.json'), readFileSync(files.keyFile), { mode: 0o644 });
  chmodSync(at('open.json'), 0o644);
  expect(await start({ keyFile: at('open.json') })).toMatch('can be read by others: chmod 600');
  expect(existsSync(at('none.sock'))).toBe(false);
});

test('a journal is verified by reading it, also while its signer runs', async () => {
  const sound = await run('verify-journal', '--journal', files.journal, '--json');
  expect(JSON.parse(sound.stdout)).toMatchObject({ torn_bytes: 0, keys: factsOfWords(WORDS).fingerprint });
  writeFileSync(at('copy.journal'), readFileSync(files.journal, 'utf8').replace('drill', 'thrill'), {
    mode: 0o600,
  });
  appendFileSync(at('copy.journal'), '{"n":');
  const broken = await run('verify-journal', '--journal', at('copy.journal'));
  expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('is broken at line')]);
});

test('the owner of an account at the collector signs by key file and passphrase, without a signer', async () => {
  const key = [
    '--key-file',
    files.keyFile,
    '--passphrase-file',
    files.passphraseFile,
    '--policy',
    files.policy,
  ];
  const fees = ['--nonce', '0', '--max-fee', '30000000000', '--priority-fee', '1000000000'];
  const zero = `0x${'0'.repeat(40)}`;
  const stop = await run('owner-call', '1', '--operator', zero, ...fees, ...key, '--json');
  expect(stop.code, stop.stderr).toBe(0);
  expect(JSON.parse(stop.stdout)).toMatchObject({
    raw: expect.stringMatching(/^0x02/),
    costAtMost: '3600000000000000',
  });
  const own = await run('owner-call', '1', '--operator', zero, ...key);
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining('give the nonce and both fees')]);
  const policy = JSON.parse(readFileSync(files.policy, 'utf8'));
  const cold = `0x${'c'.repeat(40)}`;
  policy.networks.erc20.cold_owners = { 1: cold };
  writeFileSync(at('cold.json'), JSON.stringify(policy));
  const colds = [
    '--key-file',
    files.keyFile,
    '--passphrase-file',
    files.passphraseFile,
    '--policy',
    at('cold.json'),
  ];
  const shown = await run('owner-call', '1', '--operator', zero, ...colds, '--json');
  expect(shown.code, shown.stderr).toBe(0);
  expect(JSON.parse(shown.stdout)).toEqual({
    chain_id: policy.networks.erc20.chain_id,
    from: addressOf(Buffer.from(cold.slice(2), 'hex')),
    to: policy.networks.erc20.collector,
    data: expect.stringMatching(/^0x[0-9a-f]{136}$/),
    value: '0',
    does: 'Nobody charges subscribers for the merchant of account 1 from this call on.',
    collector_account: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
  const lost = await run('owner-call', '1', '--home', zero, ...fees, ...key);
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('coins would be lost')]);
  const both = await run('owner-call', '1', '--home', zero, '--operator', zero, ...fees, ...key);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('one of --operator and --home')]);
});

test("an approver's key signs a statement that the signer accepts", async () => {
  const made = await florin(['approvers', 'new-key', at('ada.pem'), '--json']);
  const key = JSON.parse(made.stdout).ed25519;
  const subject = {
    kind: 'payout',
    merchant: '01890000-0000-7000-8000-000000000001',
    id: '01890000-0000-7000-8000-0000000000aa',
    network: 'erc20',
    asset: 'USDT',
    items: [{ place: 0, to: factsOfWords(WORDS).first, amount: '1000000', memo: null }],
  } as const;
  writeFileSync(at('batch.json'), JSON.stringify(subject));
  const sign = ['approvers', 'sign', at('batch.json'), '--as', 'ada', '--key-file', at('ada.pem'), '--json'];
  const { approver, validUntil, signature } = JSON.parse((await florin(sign)).stdout);
  const approvers = [{ name: 'ada', kind: 'ed25519', key }] as const;
  const now = Math.floor(Date.now() / 1000);
  expect(approversOf(subject, [{ approver, validUntil, signature }], { approvers, now }).size).toBe(1);
  writeFileSync(at('batch.json'), JSON.stringify({ ...subject, items: [{ ...subject.items[0], place: 1 }] }));
  expect((await florin(sign)).stderr).toContain('items have the places 0, 1, 2');
});

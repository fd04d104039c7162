import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { HDKey, mnemonicToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { Accounts } from './accounts.ts';
import { addressOf, readAddress } from './address.ts';
import { readPassphrase, readPublicFile } from './files.ts';
import { openKeyFile, readKeyFileFacts, writeKeyFile } from './key-file.ts';
import { makeWords, readWords, seedOf } from './words.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-signer-keys-'));
const WORDS = `${'abandon '.repeat(23)}art`;
const PASSPHRASE = 'correct horse battery';

test('the wallets of an account are those that other software derives from the same words', () => {
  const accounts = new Accounts(seedOf(WORDS));
  for (const account of [0, 1, 77]) {
    const hot = mnemonicToAccount(WORDS, { path: `m/44'/60'/${account}'/1/0` });
    expect(accounts.hot(account).address).toBe(hot.address);
    const owner = mnemonicToAccount(WORDS, { path: `m/44'/60'/${account}'/2/0` });
    expect(accounts.owner(account).address).toBe(owner.address);
    const watched = HDKey.fromExtendedKey(accounts.extendedPublicKey(account));
    expect(watched.privateKey).toBeNull();
    for (const index of [0, 5, 2 ** 31 - 1]) {
      const deposit = mnemonicToAccount(WORDS, { path: `m/44'/60'/${account}'/0/${index}` });
      expect(accounts.deposit(account, index).address).toBe(deposit.address);
    }
  }
  expect(() => accounts.hot(2 ** 31)).toThrow(RangeError);
  expect(() => accounts.deposit(1, -1)).toThrow(RangeError);
});

test('addresses have the checksum that other software gives them, and a wrong one is refused', () => {
  const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(bytes, fc.nat(39), (value, at) => {
      const address = addressOf(value);
      expect(address).toBe(getAddress(address.toLowerCase()));
      expect(readAddress(address)).toBe(address);
      expect(readAddress(address.toLowerCase())).toBe(address);
      const letter = address[at + 2] ?? '';
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      const wrong = `${address.slice(0, at + 2)}${other}${address.slice(at + 3)}`;
      const isSame = other === letter || wrong === wrong.toLowerCase();
      expect(readAddress(wrong)).toBe(isSame ? address : undefined);
    }),
  );
});

test('made words are 24 and read back, whatever case and spaces; mistakes are named without the words', () => {
  const words = makeWords();
  expect(words.split(' ')).toHaveLength(24);
  expect(makeWords()).not.toBe(words);
  expect(readWords(`  ${words.toUpperCase().replaceAll(' ', ' \n')}\n`)).toBe(words);
  expect(() => readWords('abandon art')).toThrow('these are 2 words, not 24.');
  expect(() => readWords('')).toThrow('these are 0 words');
  expect(() => readWords(WORDS.replace('art', 'florin'))).toThrow('word 24 is not in the list');
  expect(() => readWords(WORDS.replace('art', 'abandon'))).toThrow('do not belong together');
});

test('a key file gives its keys to the passphrase alone, and to this user alone', async () => {
  const file = path.join(folder, 'keys.json');
  const facts = await writeKeyFile(file, WORDS, PASSPHRASE);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toMatch(/abandon|correct/);
  expect(readKeyFileFacts(file)).toEqual(facts);
  expect((await openKeyFile(file, PASSPHRASE)).erc20.hot(3)).toEqual(new Accounts(seedOf(WORDS)).hot(3));
  await expect(openKeyFile(file, 'wrong horse battery')).rejects.toThrow('does not open the key file');
  await expect(writeKeyFile(file, WORDS, PASSPHRASE)).rejects.toThrow('exists and is not overwritten');
  await expect(writeKeyFile(`${file}2`, WORDS, 'short')).rejects.toThrow('at least 12 characters');
  chmodSync(file, 0o644);
  await expect(openKeyFile(file, PASSPHRASE)).rejects.toThrow(`chmod 600 ${file}`);
});

test('a key file that was changed, is half there or something else is refused in one line', async () => {
  const file = path.join(folder, 'changed.json');
  const { tank } = await writeKeyFile(file, WORDS, PASSPHRASE);
  const text = readFileSync(file, 'utf8');
  const refusalOf = async (content: string) => {
    writeFileSync(file, content);
    return await openKeyFile(file, PASSPHRASE).then(
      () => undefined,
      (error: Error) => error.message,
    );
  };
  expect(await refusalOf(text.replace(tank, `0x${'1'.repeat(40)}`))).toMatch('or it was changed');
  expect(await refusalOf(text.slice(0, 100))).toBe(`the key file ${file}: it is not JSON.`);
  expect(await refusalOf('{}')).toMatch('is missing.');
  expect(await refusalOf(text.replace('"kdf"', '"more": 1, "kdf"'))).toMatch('more is not known here');
  expect(await refusalOf(text.replace('131072', '2'))).toMatch(/ n must/);
  await expect(openKeyFile(path.join(folder, 'none'), PASSPHRASE)).rejects.toThrow('does not exist');
});

test('a passphrase is the first line of a file that others may not read', () => {
  const file = path.join(folder, 'passphrase');
  writeFileSync(file, `${PASSPHRASE}\nmore\n`, { mode: 0o600 });
  expect(readPassphrase(file, undefined)).toBe(PASSPHRASE);
  chmodSync(file, 0o440);
  expect(() => readPassphrase(file, undefined)).toThrow('can be read by others');
  expect(readPassphrase(file, folder)).toBe(PASSPHRASE);
  chmodSync(file, 0o444);
  expect(() => readPassphrase(file, folder)).toThrow('can be read by others');
  writeFileSync(path.join(folder, 'empty'), '', { mode: 0o600 });
  expect(() => readPassphrase(path.join(folder, 'empty'), undefined)).toThrow('is empty');
});

test('a policy or certificate is read only where nobody else may write it', () => {
  const file = path.join(folder, 'policy');
  writeFileSync(file, 'text', { mode: 0o644 });
  expect(readPublicFile(file, 'the policy')).toBe('text');
  chmodSync(file, 0o664);
  expect(() => readPublicFile(file, 'the policy')).toThrow(`can be written by others: chmod go-w ${file}`);
});

import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import Type from 'typebox';
import { Accounts, firstAddresses } from './accounts.ts';
import { fromHex, toHex } from './bytes.ts';
import { codeOf, readPrivateFile } from './files.ts';
import { Keys } from './keys.ts';
import { SignerMistake } from './mistake.ts';
import { checkShape } from './shape.ts';
import { entropyOf, seedOf, wordsOf } from './words.ts';

const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;
const KEY_BYTES = 32;
const SALT_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PASSPHRASE_MIN = 12;
const CIPHER = 'aes-256-gcm';

const hex = (bytes: number) => Type.String({ pattern: `^0x[0-9a-f]{${2 * bytes}}$` });

const KeyFile = Type.Object(
  {
    florin_key_file: Type.Literal(1),
    fingerprint: Type.String({ pattern: '^[0-9a-f]{8}$' }),
    tank: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
    first: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
    kdf: Type.Literal('scrypt'),
    n: Type.Literal(COST.N),
    r: Type.Literal(COST.r),
    p: Type.Literal(COST.p),
    salt: hex(SALT_BYTES),
    cipher: Type.Literal(CIPHER),
    nonce: hex(NONCE_BYTES),
    ciphertext: hex(KEY_BYTES + TAG_BYTES),
  },
  { additionalProperties: false },
);

/** What a key file says without its passphrase. */
export type KeyFileFacts = Pick<Type.Static<typeof KeyFile>, 'fingerprint' | 'tank' | 'first'>;

/** @throws SignerMistake where it is short */
export function checkNewPassphrase(passphrase: string): void {
  if (passphrase.length < PASSPHRASE_MIN)
    throw new SignerMistake('passphrase', `the passphrase needs at least ${PASSPHRASE_MIN} characters.`);
}

/** Before a person types words for it. @throws SignerMistake where the file exists, or has no folder to be in */
export function checkNewFile(file: string): void {
  if (existsSync(file))
    throw new SignerMistake('file', `${file} exists and is not overwritten: give another name.`);
  const folder = path.dirname(path.resolve(file));
  if (!existsSync(folder))
    throw new SignerMistake('file', `${file} cannot be made: ${folder} does not exist.`);
}

/** What a key file of these words would say. */
export const factsOfWords = (words: string): KeyFileFacts => firstAddresses(new Accounts(seedOf(words)));

/**
 * Writes the words to a new file with mode 0600, encrypted with the passphrase.
 *
 * @throws SignerMistake where the file exists, or the passphrase is short
 */
export async function writeKeyFile(file: string, words: string, passphrase: string): Promise<KeyFileFacts> {
  checkNewPassphrase(passphrase);
  const facts = factsOfWords(words);
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, await stretch(passphrase, salt), nonce);
  cipher.setAAD(headOf(facts));
  const sealed = Buffer.concat([cipher.update(entropyOf(words)), cipher.final(), cipher.getAuthTag()]);
  const content: Type.Static<typeof KeyFile> = {
    florin_key_file: 1,
    ...facts,
    kdf: 'scrypt',
    n: COST.N,
    r: COST.r,
    p: COST.p,
    salt: toHex(salt),
    cipher: CIPHER,
    nonce: toHex(nonce),
    ciphertext: toHex(sealed),
  };
  writeNew(file, `${JSON.stringify(content, null, 2)}\n`);
  return facts;
}

/** @throws SignerMistake where others can read it, or it is not a key file */
export function readKeyFileFacts(file: string): KeyFileFacts {
  const { fingerprint, tank, first } = readKeyFile(file);
  return { fingerprint, tank, first };
}

/** @throws SignerMistake, also for a wrong passphrase */
export async function openKeyFile(file: string, passphrase: string): Promise<Keys> {
  const { salt, nonce, ciphertext, fingerprint, tank, first } = readKeyFile(file);
  const bytes = fromHex(ciphertext);
  const decipher = createDecipheriv(CIPHER, await stretch(passphrase, fromHex(salt)), fromHex(nonce));
  decipher.setAAD(headOf({ fingerprint, tank, first }));
  decipher.setAuthTag(bytes.subarray(KEY_BYTES));
  try {
    const entropy = Buffer.concat([decipher.update(bytes.subarray(0, KEY_BYTES)), decipher.final()]);
    return new Keys(seedOf(wordsOf(entropy)));
  } catch {
    throw new SignerMistake(
      'passphrase',
      `the passphrase does not open the key file ${file}, or it was changed.`,
    );
  }
}

function readKeyFile(file: string): Type.Static<typeof KeyFile> {
  const text = readPrivateFile(file, 'the key file');
  return checkShape(
    KeyFile,
    text,
    (fault) => new SignerMistake('key_file', `the key file ${file}: ${fault}`),
  );
}

/** Bound to the ciphertext: nobody can put another name on the keys. */
const headOf = ({ fingerprint, tank, first }: KeyFileFacts) =>
  Buffer.from(['florin key file 1', fingerprint, tank, first].join('\n'));

function stretch(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, { ...COST, maxmem: MAX_MEMORY }, (error, key) =>
    error === null ? resolve(key) : reject(error),
  );
  return promise;
}

/** A file that nobody else may read and that never replaces another. On disk when it returns. */
export function writeNew(file: string, text: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', 0o600);
  } catch (error) {
    const code = codeOf(error);
    const reason = {
      EEXIST: 'exists and is not overwritten: give another name',
      ENOENT: `cannot be made: ${path.dirname(file)} does not exist`,
      EACCES: 'may not be written by this user',
    }[code];
    throw new SignerMistake('file', `${file} ${reason ?? `cannot be written (${code})`}.`);
  }
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

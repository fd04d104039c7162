import { hash, verify } from '@node-rs/argon2';
import { Fail } from '../../platform/fail.ts';
import { Semaphore } from '../../platform/jobs/index.ts';

const LENGTH_MIN = 12;
const LENGTH_MAX = 256;
/** argon2id (the library's const enum is not for modules) as OWASP recommends it: 19 MiB, two passes. */
const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes take memory and threads, and strangers ask for them: a few at a time, and a bounded number waits. */
const HASHES_AT_ONCE = 2;
const HASHES_WAITING_MAX = 40;
const RETRY_AFTER_SECONDS = 5;
const hashing = new Semaphore(HASHES_AT_ONCE);
let asked = 0;

/** @throws Fail `service_unavailable` where too many wait already */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (asked >= HASHES_AT_ONCE + HASHES_WAITING_MAX)
    throw new Fail('service_unavailable', {
      message: 'Too many people sign in at this moment. Try again in a few seconds.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  asked += 1;
  const release = await hashing.acquire();
  try {
    return await work();
  } finally {
    asked -= 1;
    release();
  }
}

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'password' });

/** People type the same character in several encodings. */
const normal = (password: string) => password.normalize('NFKC');

/** Loaded with the first password that is set: 400 kB that most processes never need. */
async function isCommon(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(password.toLowerCase());
}

/** Hashes a new password. @throws Fail for one that is short, common or the address itself */
export async function hashPassword(typed: string, email: string): Promise<string> {
  const password = normal(typed);
  const length = [...password].length;
  if (length < LENGTH_MIN || length > LENGTH_MAX)
    throw refuse(`A password has ${LENGTH_MIN} to ${LENGTH_MAX} characters.`);
  if (new Set(password).size < 4 || password.toLowerCase() === email || (await isCommon(password)))
    throw refuse('This password is among the first that anybody would try. Choose another one.');
  return await inTurn(() => hash(password, COST));
}

/** Of a random password that nobody knows: whoever has no password costs the same time. */
let nobodys: Promise<string> | undefined;

/** Takes the same time whether or not there is a hash. */
export async function isPassword(hashed: string | null, typed: string): Promise<boolean> {
  return await inTurn(async () => {
    nobodys ??= hash(crypto.randomUUID(), COST);
    const isRight = await verify(hashed ?? (await nobodys), normal(typed));
    return isRight && hashed !== null;
  });
}

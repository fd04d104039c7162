import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const CODE_ALPHABET = '23456789abcdefghjkmnpqrstvwxyz';
const CODE_LENGTH = 16;

/** A secret for a cookie or a link: 256 bits, above what guessing can reach. */
export const makeToken = (): string => randomBytes(BYTES).toString('base64url');

/** Secrets of full length need no slow hash. */
export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** About 78 bits, in groups that people can copy: `abcd-efgh-…`. */
export function makeRecoveryCode(): string {
  let code = '';
  while (code.length < CODE_LENGTH) {
    // Bytes beyond the last multiple would favour the first characters.
    for (const byte of randomBytes(CODE_LENGTH))
      if (byte < 240 && code.length < CODE_LENGTH) code += CODE_ALPHABET[byte % CODE_ALPHABET.length];
  }
  return code.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** As a person may type it. */
export const digestOfCode = (typed: string): Buffer =>
  digestOf(typed.toLowerCase().replaceAll(/[^0-9a-z]/g, ''));

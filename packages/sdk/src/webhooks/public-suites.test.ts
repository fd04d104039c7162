import { expect, test } from 'vitest';
import { macCases, webhookCaseNames } from '../../../../test/own-cases/signatures.ts';
import { hmacHex, sameSignature } from '../sign.ts';
import { webhooks } from './index.ts';

const SECRET = 'webhook-secret';
const NOW = 1_776_643_200;
const body = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');
const headers = webhooks.generateTestHeaders(body, SECRET, {
  timestamp: String(NOW),
  nonce: '0123456789abcdef',
});
const good = headers['X-Service-Signature'] ?? '';

interface Changes {
  now?: number;
  secret?: string;
  raw?: Uint8Array;
  headers?: Record<string, string | undefined>;
}
const verify = (changed: Changes) =>
  webhooks.verify(changed.raw ?? body, { ...headers, ...changed.headers }, changed.secret ?? SECRET, {
    now: changed.now ?? NOW,
  });
const signature = (value: string): Changes => ({ headers: { 'X-Service-Signature': value } });

const MISMATCH = /signature does not match/;

/** The cases of Standard Webhooks in the terms of this scheme; their id is our nonce, part of what is signed. */
const CASES: Record<string, [Changes, refusal: RegExp]> = {
  'empty key': [{ secret: '' }, /secret is missing/],
  'missing id': [{ headers: { 'X-Service-Nonce': undefined } }, /X-Service-Nonce is missing/],
  'missing timestamp': [{ headers: { 'X-Service-Timestamp': undefined } }, /X-Service-Timestamp is missing/],
  'timestamp "hello"': [{ headers: { 'X-Service-Timestamp': 'hello' } }, /not 1 to 12 plain digits/],
  'missing signature': [{ headers: { 'X-Service-Signature': undefined } }, /X-Service-Signature is missing/],
  'signature "v1,dawfeoifkpqwoekfpqoekf"': [signature('v1,dawfeoifkpqwoekfpqoekf'), MISMATCH],
  'partial signature (8 chars)': [signature(good.slice(0, 8)), MISMATCH],
  '"v1," only': [signature('v1,'), MISMATCH],
  'timestamp 301 s old': [{ now: NOW + 301 }, /301 s behind/],
  'timestamp 301 s ahead': [{ now: NOW - 301 }, /301 s ahead/],
  // Several signatures in one header are theirs alone: here each webhook has one.
  'multi signature header with one valid': [signature(`${'0'.repeat(64)} ${good}`), MISMATCH],
  // A secret is the text as it stands: no prefix of theirs is taken off.
  'secret with and without whsec_ prefix': [{ secret: `whsec_${SECRET}` }, MISMATCH],
  'empty payload': [{ raw: Buffer.alloc(0) }, MISMATCH],
};

test('every case of Standard Webhooks is refused', () => {
  expect(verify({})).toMatchObject({ id: 'evt_1' });
  const own = Object.keys(CASES);
  expect(own).toEqual(expect.arrayContaining([...webhookCaseNames(own)]));
  for (const [name, [changes, refusal]] of Object.entries(CASES)) {
    expect(() => verify(changes), name).toThrow(refusal);
  }
});

test('HMAC: the cases of RFC 4231 and of Wycheproof', () => {
  for (const { key, msg, tag, isValid } of macCases()) {
    const message = Buffer.from(msg, 'hex');
    // Fed in two parts, as the prefix and the body of a request are.
    const cut = Math.floor(message.length / 3);
    const mac = hmacHex(Buffer.from(key, 'hex'), [message.subarray(0, cut), message.subarray(cut)]);
    // A truncated tag is judged on its own digits; the rest of ours is appended to make it a whole signature.
    const whole = tag + mac.slice(tag.length);
    expect(sameSignature(whole, mac)).toBe(isValid);
  }
});

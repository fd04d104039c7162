import { NONCE_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '@florin/contract/signing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WebhookVerificationError, webhooks } from './index.ts';

/*
 * A4, A5, D1 as properties: of all that a stranger may do to a genuine webhook, nothing passes.
 */

const SECRET = 'webhook-secret';
const NOW = 1_776_643_200;
/** Any stamp is in time, so that the signature alone has to refuse a changed one. */
const ANY_TIME = { now: NOW, toleranceSeconds: 1e12 };

/** Text in which separators, quotes and braces are frequent: what boundaries could be moved to. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('.', '{', '}', '"', '\\', ':', ','),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const nonce = fc.string({ unit: fc.oneof(visible, fc.constant('.')), minLength: 16, maxLength: 64 });
const genuine = fc
  .record({ id: text, note: text, amount: fc.double({ noNaN: true, noDefaultInfinity: true }), nonce })
  .map(({ id, note, amount, nonce: given }) => {
    const body = Buffer.from(
      JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid', data: { object: { note, amount } } }),
    );
    const stamp = { timestamp: String(NOW), nonce: given };
    return { body, nonce: given, headers: webhooks.generateTestHeaders(body, SECRET, stamp) };
  });

function expectRefused(body: Uint8Array, headers: Record<string, string>): void {
  expect(() => webhooks.verify(body, headers, SECRET, ANY_TIME)).toThrow(WebhookVerificationError);
}

function flipBit(bytes: Uint8Array, at: number): Buffer {
  const flipped = Buffer.from(bytes);
  const index = Math.floor(at / 8) % flipped.length;
  flipped[index] = (flipped[index] ?? 0) ^ (1 << (at % 8));
  return flipped;
}

test('what was signed passes, however the names of the headers are written', () => {
  const mixed = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 });
  fc.assert(
    fc.property(
      genuine,
      mixed,
      fc.constantFrom('record', 'lists', 'Headers'),
      ({ body, headers }, upper, form) => {
        const renamed = Object.entries(headers).map(([name, value]): [string, string] => [
          [...name].map((char, i) => (upper[i] ? char.toUpperCase() : char.toLowerCase())).join(''),
          value,
        ]);
        const given = {
          record: Object.fromEntries(renamed),
          lists: Object.fromEntries(renamed.map(([name, value]) => [name, [value]])),
          Headers: new Headers(renamed),
        }[form];
        expect(webhooks.verify(body, given, SECRET, ANY_TIME)).toEqual(JSON.parse(body.toString()));
      },
    ),
  );
});

test('one bit changed anywhere in the body, stamp, nonce or signature refuses', () => {
  const parts = fc.constantFrom('body', TIMESTAMP_HEADER, NONCE_HEADER, SIGNATURE_HEADER);
  fc.assert(
    fc.property(genuine, parts, fc.nat(), ({ body, headers }, part, at) => {
      if (part === 'body') return expectRefused(flipBit(body, at), headers);
      const changed = flipBit(Buffer.from(headers[part] ?? '', 'latin1'), at).toString('latin1');
      return expectRefused(body, { ...headers, [part]: changed });
    }),
    { numRuns: 1_000 },
  );
});

test('every single bit of one webhook, one after the other', () => {
  const body = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');
  const headers = webhooks.generateTestHeaders(body, SECRET, {
    timestamp: String(NOW),
    nonce: '0123456789abcdef',
  });
  for (let at = 0; at < body.length * 8; at++) expectRefused(flipBit(body, at), headers);
  for (const name of [TIMESTAMP_HEADER, NONCE_HEADER, SIGNATURE_HEADER]) {
    const value = Buffer.from(headers[name] ?? '');
    for (let at = 0; at < value.length * 8; at++) {
      expectRefused(body, { ...headers, [name]: flipBit(value, at).toString('latin1') });
    }
  }
});

test('bytes cut off, added or swapped with those of another webhook refuse', () => {
  fc.assert(
    fc.property(genuine, genuine, fc.uint8Array({ minLength: 1, maxLength: 9 }), (one, other, extra) => {
      expectRefused(one.body.subarray(0, -1), one.headers);
      expectRefused(one.body.subarray(1), one.headers);
      expectRefused(Buffer.concat([one.body, extra]), one.headers);
      expectRefused(Buffer.concat([extra, one.body]), one.headers);
      fc.pre(!one.body.equals(other.body) && one.nonce !== other.nonce);
      expectRefused(other.body, one.headers);
      expectRefused(one.body, { ...one.headers, [NONCE_HEADER]: other.nonce });
    }),
  );
});

test('A4: no other boundary between the nonce and the body gives an event', () => {
  fc.assert(
    fc.property(genuine, ({ body, nonce: given, headers }) => {
      const signed = Buffer.concat([Buffer.from(`${given}.`), body]);
      for (let dot = signed.indexOf('.'); dot >= 0; dot = signed.indexOf('.', dot + 1)) {
        if (dot === given.length) continue;
        const moved = { ...headers, [NONCE_HEADER]: signed.subarray(0, dot).toString('latin1') };
        expectRefused(signed.subarray(dot + 1), moved);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('whatever comes, the refusal is one that has a reason', () => {
  const value = fc.option(fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 3 })), { nil: undefined });
  const headers = fc.dictionary(
    fc.oneof(fc.constantFrom(TIMESTAMP_HEADER, NONCE_HEADER, SIGNATURE_HEADER), fc.string()),
    value,
  );
  const body = fc.oneof(fc.uint8Array(), fc.anything());
  fc.assert(
    fc.property(body, headers, (given, named) => {
      expect(() => webhooks.verify(given as Uint8Array, named, SECRET)).toThrow(WebhookVerificationError);
    }),
  );
});

import { createHmac } from 'node:crypto';
import { SIGNING_VECTORS } from '@florin/contract/signing';
import { describe, expect, test } from 'vitest';
import { hmacHex } from '../sign.ts';
import { WebhookVerificationError, webhooks } from './index.ts';

const SECRET = 'webhook-secret';
const NOW = 1_776_643_200;
const event = {
  id: 'evt_1',
  object: 'event',
  type: 'invoice.paid',
  sequence: 3,
  data: { object: { note: 'Zürich 🦊' } },
};
const body = Buffer.from(JSON.stringify(event));
const stamp = { timestamp: String(NOW), nonce: '0123456789abcdef' };
const headers = webhooks.generateTestHeaders(body, SECRET, stamp);

function refusal(call: () => unknown): WebhookVerificationError {
  try {
    call();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error;
    throw error;
  }
  throw new Error('was accepted');
}
const verify = (given: Record<string, string | string[] | undefined>, raw: Uint8Array = body) =>
  webhooks.verify(raw, given, SECRET, { now: NOW });

describe('an honest delivery', () => {
  test('carries the signature of the specification and gives the event', () => {
    const mac = createHmac('sha256', SECRET)
      .update(`${NOW}.0123456789abcdef.${body.toString()}`)
      .digest('hex');
    expect(headers['X-Service-Signature']).toBe(mac);
    expect(verify(headers)).toEqual(event);
  });

  test('in every shape that servers hand over headers and bytes', () => {
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const listed = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]]));
    for (const shape of [headers, lower, listed, new Headers(headers)]) {
      expect(webhooks.verify(body, shape, SECRET, { now: NOW })).toEqual(event);
    }
    expect(webhooks.verify(new Uint8Array(body).buffer, headers, SECRET, { now: NOW })).toEqual(event);
  });

  test('with either secret while one is rotated', () => {
    expect(webhooks.verify(body, headers, ['new-secret', SECRET], { now: NOW })).toEqual(event);
    expect(refusal(() => webhooks.verify(body, headers, ['new', 'newer'], { now: NOW })).reason).toBe(
      'signature_mismatch',
    );
  });

  test('signed now needs no options', () => {
    expect(webhooks.verify(body, webhooks.generateTestHeaders(body.toString(), SECRET), SECRET)).toEqual(
      event,
    );
  });
});

describe('step 1: a missing header', () => {
  test.each(['X-Service-Signature', 'X-Service-Timestamp', 'X-Service-Nonce'])('%s', (name) => {
    for (const value of [undefined, '']) {
      const error = refusal(() => verify({ ...headers, [name]: value }));
      expect(error).toMatchObject({ reason: 'missing_header', message: `the header ${name} is missing` });
    }
    expect(refusal(() => verify({ ...headers, [name]: ['a', 'b'] })).reason).toBe('repeated_header');
  });
});

describe('A1, step 2: the timestamp', () => {
  test.each([0, 1, 299, 300, 301, 3_600])('%d s on either side', (skewSeconds) => {
    for (const side of [-1, 1]) {
      const call = () => webhooks.verify(body, headers, SECRET, { now: NOW + side * skewSeconds });
      if (skewSeconds <= 300) expect(call()).toEqual(event);
      else expect(refusal(call)).toMatchObject({ reason: 'timestamp_skew', skewSeconds: side * skewSeconds });
    }
  });

  test('the message names the side and the seconds', () => {
    const late = refusal(() => webhooks.verify(body, headers, SECRET, { now: NOW + 412 }));
    expect(late.message).toBe("the timestamp is 412 s behind this machine's clock, 300 s are allowed");
    const early = refusal(() => webhooks.verify(body, headers, SECRET, { now: NOW - 301 }));
    expect(early.message).toContain('301 s ahead of');
  });

  test('another tolerance; one that is no number accepts nothing', () => {
    expect(webhooks.verify(body, headers, SECRET, { now: NOW + 900, toleranceSeconds: 900 })).toEqual(event);
    const call = () => webhooks.verify(body, headers, SECRET, { now: NOW, toleranceSeconds: Number.NaN });
    expect(refusal(call).reason).toBe('timestamp_skew');
  });

  test.each(['hello', '1776643200.0', '+1776643200', '1.7766432e9', '-1', '1776643200000'])(
    '%s is none',
    (timestamp) => {
      expect(
        refusal(() => verify(webhooks.generateTestHeaders(body, SECRET, { ...stamp, timestamp }))).reason,
      ).toBe('timestamp_malformed');
    },
  );
});

test('step 3: the nonce has 16 to 64 visible characters', () => {
  const signedWith = (nonce: string) => webhooks.generateTestHeaders(body, SECRET, { ...stamp, nonce });
  for (const length of [16, 36, 64]) expect(verify(signedWith('n'.repeat(length)))).toEqual(event);
  for (const length of [1, 15, 65, 200]) {
    const error = refusal(() => verify(signedWith('n'.repeat(length))));
    expect(error).toMatchObject({ reason: 'nonce_length' });
    expect(error.message).toContain(`${length} characters`);
  }
  expect(refusal(() => verify(signedWith('0123456789 abcdef'))).reason).toBe('nonce_malformed');
});

describe('D1, step 4: only the body as received', () => {
  test('text is its bytes', () => {
    expect(webhooks.verify(body.toString(), headers, SECRET, { now: NOW })).toEqual(event);
    const other = body.toString().replace(':', ': ');
    expect(refusal(() => webhooks.verify(other, headers, SECRET, { now: NOW })).reason).toBe(
      'signature_mismatch',
    );
  });

  test.each([
    ['a parsed object', event],
    ['nothing', undefined],
  ])('%s is refused with its name', (name, given) => {
    const error = refusal(() =>
      webhooks.verify(given as unknown as Uint8Array, headers, SECRET, { now: NOW }),
    );
    expect(error.reason).toBe('body_not_raw');
    expect(error.message).toContain(`but ${name} was given`);
  });

  test('the same JSON in other bytes is refused', () => {
    const indented = Buffer.from(JSON.stringify(event, null, 2));
    expect(refusal(() => verify(headers, indented)).reason).toBe('signature_mismatch');
    expect(refusal(() => verify(headers, Buffer.concat([body, Buffer.from('\n')]))).reason).toBe(
      'signature_mismatch',
    );
  });
});

describe('A5, steps 5 and 6: the signature', () => {
  const good = headers['X-Service-Signature'] ?? '';
  const flipped = good.slice(0, -1) + (good.endsWith('0') ? '1' : '0');
  test.each([
    flipped,
    good.toUpperCase(),
    good.slice(0, 8),
    good.slice(0, -1),
    `${good}00`,
    `v1,${good}`,
    `${good},${good}`,
    ' ',
    'x',
  ])('%s is refused', (signature) => {
    expect(refusal(() => verify({ ...headers, 'X-Service-Signature': signature })).reason).toBe(
      'signature_mismatch',
    );
  });

  test('A4: moving the boundary between nonce and body is refused', () => {
    const moved = { ...headers, 'X-Service-Nonce': `${stamp.nonce}.{` };
    expect(refusal(() => verify(moved, body.subarray(1))).reason).toBe('signature_mismatch');
    const withDot = webhooks.generateTestHeaders(body, SECRET, { ...stamp, nonce: '0123456789abcdef.{}' });
    const shifted = { ...withDot, 'X-Service-Nonce': '0123456789abcdef' };
    // The MAC is right by construction; what is left over is no JSON, so that nothing can come of it.
    const leftOver = Buffer.concat([Buffer.from('{}.'), body]);
    expect(refusal(() => verify(shifted, leftOver)).reason).toBe('body_not_json');
  });

  test('an API key given as the secret is pointed out, an empty secret is an error of the settings', () => {
    const error = refusal(() => webhooks.verify(body, headers, 'fl_test_abc', { now: NOW }));
    expect(error.message).toContain('looks like an API key');
    expect(error.message).not.toContain('fl_test_abc');
    for (const none of [
      '',
      [],
      [''],
      undefined,
      [undefined],
      7 as unknown as string,
      [null as unknown as string],
    ]) {
      expect(() => webhooks.verify(body, headers, none, { now: NOW })).toThrow(TypeError);
    }
  });

  test('an empty secret beside a real one is left out: nothing signed with it passes', () => {
    expect(webhooks.verify(body, headers, ['', undefined, SECRET], { now: NOW })).toEqual(event);
    const mac = hmacHex('', [Buffer.from(`${NOW}.${stamp.nonce}.`), body]);
    expect(refusal(() => verify({ ...headers, 'X-Service-Signature': mac })).reason).toBe(
      'signature_mismatch',
    );
    const forged = { ...headers, 'X-Service-Signature': mac };
    expect(refusal(() => webhooks.verify(body, forged, ['', SECRET], { now: NOW })).reason).toBe(
      'signature_mismatch',
    );
  });

  test('a secret copied with its line feed is pointed out', () => {
    const error = refusal(() => webhooks.verify(body, headers, `${SECRET}\n`, { now: NOW }));
    expect(error.message).toContain('white space');
    expect(error.message).not.toContain(SECRET);
  });
});

test('a signed body that is not JSON has a reason of its own', () => {
  for (const raw of [Buffer.from('{'), Buffer.alloc(0), Buffer.from([0xff]), Buffer.from('\ufeff{}')]) {
    expect(refusal(() => verify(webhooks.generateTestHeaders(raw, SECRET, stamp), raw)).reason).toBe(
      'body_not_json',
    );
  }
});

test('a signed body that is no event has a reason of its own', () => {
  for (const raw of [
    'null',
    '1',
    '[]',
    '"evt_1"',
    '{}',
    '{"id":"evt_1"}',
    '{"id":1,"type":"x"}',
    '{"id":"","type":"x"}',
  ]) {
    const signed = webhooks.generateTestHeaders(raw, SECRET, stamp);
    expect(refusal(() => verify(signed, Buffer.from(raw))).reason, raw).toBe('body_not_event');
  }
});

test('the headers made for a test name the event that the body holds', () => {
  expect(headers).toMatchObject({ 'X-Service-Event-ID': 'evt_1', 'X-Service-Event-Type': 'invoice.paid' });
  expect(webhooks.generateTestHeaders(body, SECRET, { eventId: 'evt_2' })).toMatchObject({
    'X-Service-Event-ID': 'evt_2',
    'X-Service-Event-Type': 'invoice.paid',
  });
});

test.each(SIGNING_VECTORS)('published vector: $name', (vector) => {
  const made = webhooks.generateTestHeaders(Buffer.from(vector.bodyHex, 'hex'), vector.secret, vector);
  expect(made['X-Service-Signature']).toBe(vector.signature);
});

import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approversOf, isSignedBy } from './approvals.ts';
import { approverPublicKey, signStatement } from './approver-files.ts';
import { fromHex, toHex } from './bytes.ts';
import { approvalChallenge, isPasskeyKey } from './passkey.ts';
import { readPolicy } from './policy.ts';
import { type Subject, statementOf } from './statement.ts';
import { answerOf, approvedBy, makePasskey, PAGE, policyPasskey, VERIFIED } from './test-passkey.ts';
import { ADA, policyText } from './test-policy.ts';

const NOW = 1_790_000_000;
const UNTIL = NOW + 60;
const subject: Subject = {
  kind: 'payout',
  merchant: '01890000-0000-7000-8000-000000000001',
  id: '01890000-0000-7000-8000-0000000000aa',
  network: 'trc20',
  asset: 'USDT',
  items: [{ place: 0, to: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', amount: '1000000', memo: null }],
};
const statement = statementOf(subject, UNTIL);
const passkey = makePasskey();
const other = makePasskey();
const rsa = makePasskey(generateKeyPairSync('rsa', { modulusLength: 2_048 }));
const edwards = makePasskey(generateKeyPairSync('ed25519'));

test('the challenge is the SHA-256 of the domain and the statement', () => {
  expect(toHex(approvalChallenge({ ...statement, items: `0x${'11'.repeat(32)}` }))).toBe(
    '0xa733b80dc4dc50074ef888fad8e5b7d103633b845dc57b3b4bfbcdd311c19fcd',
  );
});

test('passkeys of each kind answer a statement', () => {
  for (const one of [passkey, rsa, edwards]) {
    expect(isSignedBy(one.key, statement, answerOf(one, statement))).toBe(true);
    expect(isSignedBy(other.key, statement, answerOf(one, statement))).toBe(false);
  }
});

test('whichever byte of an answer is changed, it counts no more', () => {
  for (const one of [passkey, edwards]) {
    const answer = answerOf(one, statement);
    const parts = {
      signature: answer.signature,
      authenticatorData: answer.passkey.authenticatorData,
      clientDataJSON: answer.passkey.clientDataJSON,
    };
    const changed = (name: keyof typeof parts, bytes: Uint8Array) => {
      const { signature, ...rest } = { ...parts, [name]: toHex(bytes) };
      return isSignedBy(one.key, statement, { signature, passkey: rest });
    };
    for (const name of ['signature', 'authenticatorData', 'clientDataJSON'] as const) {
      const bytes = fromHex(parts[name]);
      expect(changed(name, bytes)).toBe(true);
      for (const [at, byte] of bytes.entries())
        for (const bit of [1, 0x80])
          expect(changed(name, bytes.with(at, byte ^ bit)), `${name} ${at}`).toBe(false);
      expect(changed(name, bytes.subarray(1)), name).toBe(false);
      expect(changed(name, bytes.subarray(0, -1)), name).toBe(false);
      expect(changed(name, Uint8Array.of(...bytes, 0)), name).toBe(false);
    }
  }
});

test('a passkey that signs something else has not approved this', () => {
  const { rpId, origin } = PAGE;
  const answers: [what: string, said: Parameters<typeof answerOf>[2]][] = [
    ['another relying party', { rpId: `x${rpId}` }],
    ['no verification', { flags: 0x01 }],
    ['nobody present', { flags: 0x04 }],
    ['a new credential', { flags: VERIFIED | 0x40 }],
    ['an unknown flag', { flags: VERIFIED | 0x02 }],
    ['another unknown flag', { flags: VERIFIED | 0x20 }],
    ['extensions that are not there', { flags: VERIFIED | 0x80 }],
    ['extensions that no flag names', { extensions: Uint8Array.of(0xa0) }],
    ['a copy that may not be copied', { flags: VERIFIED | 0x10 }],
    ['another origin', { client: { origin: `${origin}:444` } }],
    ['an origin with a path', { client: { origin: `${origin}/` } }],
    ['plain http', { client: { origin: origin.replace('https', 'http') } }],
    ['another type', { client: { type: 'webauthn.create' } }],
    ['a page inside of another', { client: { crossOrigin: true } }],
    ['words instead of a truth', { client: { crossOrigin: 'false' } }],
    ['the page around it', { client: { topOrigin: origin } }],
    ['another challenge', { client: { challenge: 'AAAA' } }],
    ['no challenge', { client: { challenge: undefined } }],
  ];
  for (const [what, said] of answers)
    expect(isSignedBy(passkey.key, statement, answerOf(passkey, statement, said)), what).toBe(false);
  const fine: Parameters<typeof answerOf>[2][] = [
    { counter: 7 },
    { flags: VERIFIED | 0x08 },
    { flags: VERIFIED | 0x18 },
    { flags: VERIFIED | 0x80, extensions: Uint8Array.of(0xa0) },
    { client: { crossOrigin: undefined } },
    { client: { other_keys_can_be_added_here: 'do not compare' } },
  ];
  for (const said of fine)
    expect(isSignedBy(passkey.key, statement, answerOf(passkey, statement, said)), JSON.stringify(said)).toBe(
      true,
    );
});

test('an answer to another statement, decision, mode or time is none to this one', () => {
  const others = [
    statementOf(subject, UNTIL + 1),
    statementOf(subject, UNTIL, { mode: 'live', decision: 'reject' }),
    statementOf(subject, UNTIL, { mode: 'sandbox', decision: 'approve' }),
    statementOf({ ...subject, network: 'erc20' }, UNTIL),
    statementOf({ ...subject, kind: 'refund' }, UNTIL),
  ];
  for (const one of others)
    expect(isSignedBy(passkey.key, statement, answerOf(passkey, one)), one.decision).toBe(false);
  fc.assert(
    fc.property(fc.string(), (memo) => {
      const [item] = subject.items;
      if (item === undefined) throw new Error('one item');
      const paying = statementOf({ ...subject, items: [{ ...item, memo }] }, UNTIL);
      expect(isSignedBy(passkey.key, statement, answerOf(passkey, paying))).toBe(false);
      expect(isSignedBy(passkey.key, paying, answerOf(passkey, paying))).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('a key of one kind is not asked for the answer of another', () => {
  const signed = { signature: signStatement(statement, ADA) };
  const ada = { kind: 'ed25519', key: approverPublicKey(ADA) } as const;
  expect(isSignedBy(ada, statement, signed)).toBe(true);
  expect(isSignedBy(passkey.key, statement, signed)).toBe(false);
  expect(isSignedBy(ada, statement, { ...signed, passkey: answerOf(passkey, statement).passkey })).toBe(
    false,
  );
});

test('bytes that are no answer break nothing', () => {
  const any = fc.uint8Array({ maxLength: 80 });
  fc.assert(
    fc.property(any, any, any, (signature, data, client) => {
      const parts = { authenticatorData: toHex(data), clientDataJSON: toHex(client) };
      expect(isSignedBy(passkey.key, statement, { signature: toHex(signature), passkey: parts })).toBe(false);
    }),
  );
});

test('several passkeys of one name are one person', () => {
  const text = policyText();
  text.approvers = [
    { name: 'ada', passkeys: [policyPasskey(passkey), policyPasskey(rsa)] },
    { name: 'bob', passkeys: [policyPasskey(other)] },
  ];
  const { approvers } = readPolicy(JSON.stringify(text));
  const by = (...approvals: ReturnType<typeof approvedBy>[]) =>
    approversOf(subject, approvals, { approvers, now: NOW });
  const both = [approvedBy('ada', passkey, subject, UNTIL), approvedBy('ada', rsa, subject, UNTIL)];
  expect(by(...both)).toEqual(new Set(['ada']));
  expect(by(...both, approvedBy('bob', other, subject, UNTIL)).size).toBe(2);
  expect(
    by(approvedBy('bob', passkey, subject, UNTIL), approvedBy('eve', edwards, subject, UNTIL)).size,
  ).toBe(0);
  expect(by(approvedBy('bob', other, subject, NOW - 1)).size).toBe(0);
  text.payouts.approvals = 3;
  expect(() => readPolicy(JSON.stringify(text))).toThrow('payouts.approvals needs 3 people');
});

test('a policy takes passkeys in one form, and says what is wrong with another', () => {
  const named = policyPasskey(passkey);
  const weak = makePasskey(generateKeyPairSync('rsa', { modulusLength: 1_024 }));
  const curve = makePasskey(generateKeyPairSync('ec', { namedCurve: 'P-384' }));
  const lines: [line: string, change: Partial<typeof named>][] = [
    ['key is no public key', { key: `${named.key}00` }],
    ['key is no public key', { key: named.key.slice(0, -2) }],
    ['key is no public key', { key: weak.key.key }],
    ['key is no public key', { key: curve.key.key }],
    ['key must be what florin approvers passkey shows', { key: 'ada' }],
    ['origin is no origin', { origin: `${PAGE.origin}/console` }],
    ['origin is no origin', { origin: 'console.example.com' }],
    ['origin is not https', { origin: 'http://console.example.com' }],
    ['origin is not of console.example.com', { origin: 'https://notconsole.example.com' }],
    ['rp_id must be the name', { rp_id: 'https://console.example.com' }],
  ];
  const read = (change: Partial<typeof named>) => {
    const text = { ...policyText(), approvers: [{ name: 'ada', passkeys: [{ ...named, ...change }] }] };
    return () => readPolicy(JSON.stringify(text));
  };
  for (const [line, change] of lines) expect(read(change), line).toThrow(`approvers.0.passkeys.0.${line}`);
  expect(read({ origin: 'https://pay.console.example.com:8443' })).not.toThrow();
  expect(read({ rp_id: 'localhost', origin: 'http://localhost:3000' })).not.toThrow();
  expect(isPasskeyKey(`0x${'00'.repeat(32)}`)).toBe(false);
  const text = policyText();
  text.approvers.push({ name: 'eve', passkeys: [named] }, { name: 'eva', passkeys: [named] });
  expect(() => readPolicy(JSON.stringify(text))).toThrow('two approvers have the key');
  // One key, by itself and as that of a passkey.
  const { ed25519 } = policyText().approvers[0] ?? {};
  const asPasskey = { ...named, key: `0x302a300506032b6570032100${ed25519?.slice(2) ?? ''}` };
  const both = policyText();
  both.approvers.push({ name: 'eve', passkeys: [asPasskey] });
  expect(() => readPolicy(JSON.stringify(both))).toThrow('two approvers have the key');
});

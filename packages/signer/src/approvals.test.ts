import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { expect, test } from 'vitest';
import { approversOf } from './approvals.ts';
import {
  approverKeyOf,
  approverPublicKey,
  openApproverKey,
  signStatement,
  writeApproverKey,
} from './approver-files.ts';
import { toHex } from './bytes.ts';
import { readPolicy } from './policy.ts';
import { approvalDigest, approvalTypedData, type Subject, statementOf, statementText } from './statement.ts';
import { ADA, BOB, policyText } from './test-policy.ts';

const NOW = 1_790_000_000;
const { approvers } = readPolicy(JSON.stringify(policyText()));

const subject: Subject = {
  kind: 'payout',
  merchant: '01890000-0000-7000-8000-000000000001',
  id: '01890000-0000-7000-8000-0000000000aa',
  network: 'erc20',
  asset: 'USDT',
  items: [
    { place: 0, to: '0x5FbDB2315678afecb367f032d93F642f64180aa3', amount: '1000000', memo: null },
    { place: 1, to: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', amount: '2500000', memo: 'Ω' },
  ],
};
const whoApproves = (of: Subject, approvals: Parameters<typeof approversOf>[1]) =>
  approversOf(of, approvals, { approvers, now: NOW });

const byAda = (of: Subject, validUntil = NOW + 60) => ({
  approver: 'ada',
  validUntil,
  signature: signStatement(statementOf(of, validUntil), ADA),
});
async function byBob(of: Subject, validUntil = NOW + 60) {
  const { domain, types, primaryType, message } = approvalTypedData(statementOf(of, validUntil));
  const { count, total, validUntil: until, ...texts } = message;
  const signature = await BOB.signTypedData({
    domain,
    types,
    primaryType,
    message: { ...texts, count: BigInt(count), total: BigInt(total), validUntil: BigInt(until) },
  });
  return { approver: 'bob', validUntil, signature };
}

test('the statement is this text, whatever changes elsewhere', () => {
  expect(statementText(statementOf(subject, NOW))).toBe(`Florin approval 1
mode live
kind payout
merchant 01890000-0000-7000-8000-000000000001
id 01890000-0000-7000-8000-0000000000aa
network erc20
asset USDT
count 2
total 3500000
items 0xc322119379a0bff79d9caf62928c746437610b5e9a00fa77ae9c7d5d7627353d
decision approve
valid_until 1790000000
`);
});

test('a key and a wallet approve the same subject', async () => {
  expect(whoApproves(subject, [byAda(subject), await byBob(subject)])).toEqual(new Set(['ada', 'bob']));
  expect(whoApproves(subject, [byAda(subject), byAda(subject), byAda(subject, NOW + 99)])).toEqual(
    new Set(['ada']),
  );
  expect(whoApproves(subject, [byAda(subject, NOW - 1), await byBob(subject, NOW - 1)])).toEqual(new Set());
  const renamed = { ...(await byBob(subject)), approver: 'ada' };
  expect(whoApproves(subject, [renamed, { ...byAda(subject), approver: 'eve' }])).toEqual(new Set());
  const typed = approvalTypedData(statementOf(subject, NOW));
  expect(toHex(approvalDigest(statementOf(subject, NOW)))).toBe(
    hashTypedData({ ...typed, message: { ...typed.message } } as Parameters<typeof hashTypedData>[0]),
  );
});

test('whatever is changed in a subject, its signatures hold no longer', async () => {
  const approvals = [byAda(subject), await byBob(subject)];
  const [first, second] = subject.items;
  if (first === undefined || second === undefined) throw new Error('two items');
  const others: Subject[] = [
    { ...subject, kind: 'refund' },
    { ...subject, merchant: subject.id },
    { ...subject, id: subject.merchant },
    { ...subject, asset: 'USDC' },
    { ...subject, items: [first] },
    { ...subject, items: [first, second, { ...second, place: 2 }] },
    {
      ...subject,
      items: [
        { ...first, place: 1 },
        { ...second, place: 0 },
      ],
    },
    { ...subject, items: [{ ...first, to: second.to }, second] },
    {
      ...subject,
      items: [
        { ...first, amount: '2500000' },
        { ...second, amount: '1000000' },
      ],
    },
    { ...subject, items: [first, { ...second, memo: null }] },
  ];
  for (const other of others) expect(whoApproves(other, approvals).size, JSON.stringify(other)).toBe(0);
  const lower = { ...subject, items: [{ ...first, to: first.to.toLowerCase() }, second] };
  expect(whoApproves(lower, approvals).size).toBe(2);
  const later = approvals.map((one) => ({ ...one, validUntil: one.validUntil + 1 }));
  expect(whoApproves(subject, later).size).toBe(0);
});

test('in base58 another case is another recipient', () => {
  const base58 = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const paying = (to: string): Subject => ({
    ...subject,
    items: [{ place: 0, to, amount: '1000000', memo: null }],
  });
  const approvals = [byAda(paying(base58))];
  expect(whoApproves(paying(base58), approvals).size).toBe(1);
  for (const other of [base58.toLowerCase(), `e${base58.slice(1)}`])
    expect(whoApproves(paying(other), approvals).size, other).toBe(0);
});

test('a damaged signature counts nothing and breaks nothing', () => {
  const { signature } = byAda(subject);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), fc.constantFrom('ada', 'bob', 'eve'), (bytes, approver) => {
      fc.pre(toHex(bytes) !== signature);
      const one = { approver, validUntil: NOW + 60, signature: toHex(bytes) };
      expect(whoApproves(subject, [one]).size).toBe(0);
    }),
  );
});

test('an approver key lies in a file of its own, with a passphrase or without', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-approver-'));
  const [plain, sealed] = [path.join(folder, 'plain'), path.join(folder, 'sealed')];
  const publicKey = writeApproverKey(plain);
  expect(statSync(plain).mode & 0o777).toBe(0o600);
  expect(approverPublicKey(openApproverKey(plain))).toBe(publicKey);
  const sealedKey = writeApproverKey(sealed, 'open sesame');
  expect(approverPublicKey(openApproverKey(sealed, 'open sesame'))).toBe(sealedKey);
  expect(() => openApproverKey(sealed)).toThrow('its passphrase is missing');
  expect(() => openApproverKey(sealed, 'wrong')).toThrow('the passphrase is wrong');
});

test('an approver is known by the key itself, its text in a file, its public half, or the private one', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-approver-'));
  const inFolder = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const file = path.join(folder, 'ada.pem');
  const key = writeApproverKey(file);
  const pem = createPublicKey(readFileSync(file, 'utf8')).export({ format: 'pem', type: 'spki' }).toString();
  for (const text of [key, file, inFolder('key.txt', `${key}\n`), inFolder('key.pub', pem)])
    expect(approverKeyOf(text)).toEqual({ kind: 'ed25519', key });
  expect(approverKeyOf(BOB.address)).toEqual({ kind: 'ethereum', key: BOB.address });
  const sealed = path.join(folder, 'sealed.pem');
  writeApproverKey(sealed, 'a long passphrase');
  // The last one is a point of small order.
  const wrong = [
    '',
    'ada',
    folder,
    sealed,
    inFolder('empty', ''),
    BOB.address.slice(1),
    `0x01${'0'.repeat(62)}`,
  ];
  for (const text of wrong) expect(() => approverKeyOf(text)).toThrow(/florin approvers new-key/);
});

import { createPublicKey, verify } from 'node:crypto';
import { approvalText, signApproval } from '@florin/sdk';
import { statementOf, statementText } from '@florin/signer/statement';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ADA } from '../../packages/signer/src/test-policy.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'));
const BASE58 = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'];
const item = fc.record({
  to: fc.oneof(
    hex(20).map((text) => `0x${text}`),
    fc.string({ unit: fc.constantFrom(...BASE58), minLength: 32, maxLength: 44 }),
  ),
  amount: fc.bigInt(1n, 10n ** 12n).map(String),
  memo: fc.option(fc.string({ unit: 'binary', maxLength: 40 })),
});
const subjects = fc.record({
  kind: fc.constantFrom('payout' as const, 'refund' as const),
  merchant: fc.uuid(),
  id: fc.uuid(),
  network: fc.constant('erc20' as const),
  asset: fc.constantFrom('USDT' as const, 'USDC' as const),
  items: fc
    .array(item, { minLength: 1, maxLength: 20 })
    .map((list) => list.map((one, place) => ({ ...one, place })))
    .chain((list) => fc.shuffledSubarray(list, { minLength: list.length })),
});

test('the SDK signs the text that the signer checks, whatever is paid', () => {
  fc.assert(
    fc.property(subjects, fc.integer({ min: 0, max: 2 ** 40 }), (subject, validUntil) => {
      expect(approvalText(subject, validUntil)).toBe(statementText(statementOf(subject, validUntil)));
    }),
  );
  fc.assert(
    fc.property(subjects, (subject) => {
      const approval = signApproval(subject, { approver: 'ada', privateKey: ADA, validForSeconds: 60 });
      const text = Buffer.from(statementText(statementOf(subject, approval.valid_until)));
      const signature = Buffer.from(approval.signature.slice(2), 'hex');
      expect(verify(null, text, createPublicKey(ADA), signature)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

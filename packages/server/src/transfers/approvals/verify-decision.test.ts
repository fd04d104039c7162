import { statementOf } from '@florin/signer/statement';
import { expect, test } from 'vitest';
import { answerOf, makePasskey } from '../../../../signer/src/test-passkey.ts';
import type { Decided } from './list-decisions.ts';
import { verifyDecision } from './verify-decision.ts';

const GRACE = makePasskey();
const EVE = makePasskey();
const CAME = 1_790_000_000;
const UNTIL = CAME + 7 * 86_400;
const items = [{ place: 0, to: `0x${'5f'.repeat(20)}`, amount: '1000000', memo: null }];
const subject = {
  kind: 'payout',
  merchant: '01890000-0000-7000-8000-000000000001',
  id: '01890000-0000-7000-8000-0000000000aa',
  network: 'erc20',
  asset: 'USDT',
  items,
} as const;

/** What the database says: the vote of Bob, and an answer that is kept as that of grace. */
function decidedBy(passkey = GRACE, validUntil = UNTIL): Decided {
  const statement = statementOf(subject, validUntil, { mode: 'live', decision: 'approve' });
  const kept = {
    approver: 'grace',
    approverId: 'bob',
    decision: 'approve',
    counts: true,
    createdAt: CAME,
  } as const;
  const signed = { ...kept, validUntil, publicKey: passkey.key.key, ...answerOf(passkey, statement) };
  return { name: 'Bob', decision: 'approved', at: CAME, weakly: 'session', isPresent: true, signed };
}

const { rpId, origin } = GRACE.key;
const verify = (decided: Decided, { nowSeconds = CAME + 60, isOfPolicy = true } = {}) =>
  verifyDecision(decided, {
    subject,
    mode: 'live',
    approvers: isOfPolicy ? [{ name: 'grace', ...GRACE.key }] : undefined,
    page: { rpId, origin },
    nowSeconds,
  });

test('whose key signed is said beside whose vote it is by the database', () => {
  const said = { name: 'Bob', signer: 'grace', by: 'passkey' };
  expect(verify(decidedBy())).toEqual({
    ...said,
    decision: 'approved',
    strength: 'signed',
    counts_today: true,
    why: null,
  });
  expect(verify(decidedBy(EVE))).toMatchObject({ ...said, strength: 'wrong', counts_today: false });
});

test('what was signed in time is signed, also where it counts no more', () => {
  const old = { strength: 'signed', counts_today: false };
  expect(verify(decidedBy(), { nowSeconds: UNTIL + 1 })).toMatchObject({
    ...old,
    why: expect.stringContaining('good until'),
  });
  expect(verify({ ...decidedBy(), isPresent: false })).toMatchObject({
    ...old,
    why: expect.stringContaining('removed'),
  });
  expect(verify(decidedBy(GRACE, CAME - 1))).toMatchObject({ strength: 'wrong' });
});

test('without a policy nothing is more than weaker, as whoever writes the database makes keys as well', () => {
  for (const passkey of [GRACE, EVE])
    expect(verify(decidedBy(passkey), { isOfPolicy: false })).toMatchObject({
      strength: 'weaker',
      counts_today: true,
      why: expect.stringContaining('--policy'),
    });
  const { signed: _, ...vote } = decidedBy();
  expect(verify({ ...vote, signed: null })).toMatchObject({
    signer: null,
    by: 'session',
    strength: 'weaker',
  });
});

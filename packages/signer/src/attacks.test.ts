import { expect, test } from 'vitest';
import { encodeCall } from './calldata.ts';
import type { Payment } from './statement.ts';
import { approvedBy, makePasskey, policyPasskey } from './test-passkey.ts';
import { USDC } from './test-policy.ts';
import {
  accounts,
  approve,
  approved,
  BATCH_PAYOUT,
  Bench,
  GWEI,
  itemAt,
  MERCHANTS,
  OTHER_BATCH,
  payBytes,
  payCall,
  payment,
  request,
  transferBytes,
} from './test-requests.ts';

const EVE = accounts.deposit(666, 0).address;

/** An approved batch, and what an attacker makes of it. */
function outcomeOf(purpose: Payment, bytes = payBytes(purpose), account = 1): string {
  return new Bench().outcome(request({ account, bytes, purpose }));
}

test('G3: an approved batch is signed, in parts too, and a single transfer of it', () => {
  const batch = approved(payment());
  expect(outcomeOf(batch)).toBe('signed');
  expect(outcomeOf({ ...batch, places: [1] })).toBe('signed');
  expect(outcomeOf({ ...batch, places: [1, 0] })).toBe('signed');
  expect(outcomeOf({ ...batch, places: [1] }, transferBytes({ ...batch, places: [1] }))).toBe('signed');
});

test('G3: a passkey alone approves a batch, and rows without its answer do not', () => {
  const [ada, eve] = [makePasskey(), makePasskey()];
  const batch = payment();
  const named = { ...batch, network: 'erc20' } as const;
  const until = 1_790_000_100;
  const signed = approvedBy('ada', ada, named, until);
  const outcome = (approvals: Payment['approvals'], changes: Partial<Payment> = {}) => {
    const purpose = { ...batch, approvals, ...changes };
    const bench = new Bench((policy) =>
      Object.assign(policy, { approvers: [{ name: 'ada', passkeys: [policyPasskey(ada)] }] }),
    );
    return bench.outcome(request({ bytes: payBytes(purpose), purpose }));
  };
  expect(outcome([signed])).toBe('signed');
  const forged: [string, Payment['approvals'], Partial<Payment>?][] = [
    ['of another passkey', [approvedBy('ada', eve, named, until)]],
    ['of another batch', [approvedBy('ada', ada, { ...named, id: OTHER_BATCH }, until)]],
    ['of another network', [approvedBy('ada', ada, { ...named, network: 'spl' }, until)]],
    ['moved to another batch', [signed], { id: OTHER_BATCH }],
    ['over', [approvedBy('ada', ada, named, 1_789_999_999)]],
    ['longer than signed', [{ ...signed, validUntil: until + 1 }]],
    ['without what was signed', [{ approver: 'ada', validUntil: until, signature: signed.signature }]],
    ['by a key file that the policy does not name', [approve(batch)]],
  ];
  for (const [what, approvals, changes] of forged)
    expect(outcome(approvals, changes), what).toBe('approvals');
});

test('G3: rows that are edited after the approval are refused for want of one', () => {
  const batch = approved(payment());
  const [first, second] = batch.items;
  if (first === undefined || second === undefined) throw new Error('two items');
  const edits: [string, Payment][] = [
    ['address', { ...batch, items: [{ ...first, to: EVE }, second] }],
    ['amount', { ...batch, items: [{ ...first, amount: '1000001' }, second] }],
    [
      'amounts exchanged',
      {
        ...batch,
        items: [
          { ...first, amount: '2000000' },
          { ...second, amount: '1000000' },
        ],
      },
    ],
    ['another item', { ...batch, items: [first, second, itemAt(2)] }],
    ['memo', { ...batch, items: [{ ...first, memo: 'x' }, second] }],
    ['batch', { ...batch, id: OTHER_BATCH }],
    ['merchant', { ...batch, merchant: MERCHANTS[1] }],
    ['kind', { ...batch, kind: 'refund', items: [{ ...first, amount: '100000001' }, second] }],
    ['no approval', { ...batch, approvals: [] }],
    ['expired', { ...batch, approvals: [approve(batch, 1_789_999_999)] }],
    ['by a stranger', { ...batch, approvals: batch.approvals.map((one) => ({ ...one, approver: 'eve' })) }],
    [
      'longer validity',
      { ...batch, approvals: batch.approvals.map((one) => ({ ...one, validUntil: one.validUntil + 1 })) },
    ],
  ];
  for (const [name, edited] of edits) expect(outcomeOf(edited), name).toBe('approvals');
});

test('G3: the same signature twice is one, where two are needed', () => {
  const bench = new Bench((policy) => Object.assign(policy.payouts, { approvals: 2 }));
  const batch = payment();
  const approvals = [approve(batch), approve(batch), approve(batch, 1_790_000_100)];
  const purpose = { ...batch, approvals };
  expect(bench.outcome(request({ bytes: payBytes(purpose), purpose }))).toBe('approvals');
});

test('G3: bytes that do something else than the approved purpose are refused', () => {
  const batch = approved(payment());
  const call = payCall(batch);
  if (call.kind !== 'pay') throw new Error('a payment');
  const [one, two] = call.payments;
  if (one === undefined || two === undefined) throw new Error('two payments');
  const pay = (changes: Partial<typeof call>) => ({ data: encodeCall({ ...call, ...changes }) });
  const bytes: [string, Parameters<typeof request>[0]['bytes']][] = [
    ['recipient', pay({ payments: [{ ...one, to: EVE }, two] })],
    ['amount', pay({ payments: [{ ...one, amount: 1_000_001n }, two] })],
    ['place', pay({ payments: [{ ...one, index: 7n }, two] })],
    ['order', pay({ payments: [two, one] })],
    ['more', pay({ payments: [one, two, two] })],
    ['fewer', pay({ payments: [one] })],
    ['token', pay({ token: USDC })],
    ['group', pay({ group: new Uint8Array(32) })],
    ['contract', { ...pay({}), to: EVE }],
    ['native coins', { ...pay({}), value: 1n }],
    ['authorizations', { ...pay({}), type: 4 }],
    ['nothing', {}],
    [
      'transfer to another',
      { to: BATCH_PAYOUT, data: encodeCall({ kind: 'transfer', to: EVE, amount: 1n }) },
    ],
    ['approval of a stranger', { data: encodeCall({ kind: 'approve', spender: EVE, amount: 1n }) }],
  ];
  for (const [name, changed] of bytes) expect(outcomeOf(batch, changed), name).toBe('purpose');
  expect(outcomeOf(batch, { ...pay({}), chainId: 1 })).toBe('policy');
  expect(outcomeOf(batch, pay({}), 0)).toBe('purpose');
});

test('G3: a single transfer pays its item alone', () => {
  const batch = approved({ ...payment(), places: [1] });
  const transfer = transferBytes(batch);
  const calls = { data: encodeCall({ kind: 'transfer', to: EVE, amount: 2_000_000n }) };
  expect(outcomeOf(batch, { ...transfer, ...calls })).toBe('purpose');
  const more = { data: encodeCall({ kind: 'transfer', to: batch.items[1]?.to ?? '', amount: 2_000_001n }) };
  expect(outcomeOf(batch, { ...transfer, ...more })).toBe('purpose');
  expect(outcomeOf(batch, { ...transfer, to: USDC })).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [0] }, transfer)).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [0, 1] }, transfer)).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [1, 1] }, transfer)).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [2] }, transfer)).toBe('purpose');
});

test("G3: a merchant's approvals are worth nothing for another account", () => {
  const bench = new Bench();
  const own = approved(payment());
  expect(bench.outcome(request({ bytes: payBytes(own), purpose: own }))).toBe('signed');
  const again = approved(payment({ id: OTHER_BATCH }));
  expect(bench.outcome(request({ account: 2, bytes: payBytes(again), purpose: again }))).toBe('purpose');
  const foreign = approved(payment({ merchant: MERCHANTS[1] }));
  expect(bench.outcome(request({ ordinal: 1, bytes: payBytes(foreign), purpose: foreign }))).toBe('purpose');
  const fixed = new Bench((policy) => Object.assign(policy, { accounts: { 1: MERCHANTS[1] } }));
  expect(fixed.outcome(request({ bytes: payBytes(own), purpose: own }))).toBe('purpose');
  expect(fixed.outcome(request({ account: 2, bytes: payBytes(foreign), purpose: foreign }))).toBe('purpose');
});

test('G3: items without people go out up to the limits, in however many batches', () => {
  const bench = new Bench((policy) =>
    Object.assign(policy.payouts, { approve_above: '100', unapproved_per_day: '250' }),
  );
  const small = (n: number) =>
    payment({
      id: `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`,
      items: [itemAt(0, '100000000')],
    });
  const outcomes = [0, 1, 2].map((n) =>
    bench.outcome(request({ ordinal: n, bytes: payBytes(small(n)), purpose: small(n) })),
  );
  expect(outcomes).toEqual(['signed', 'signed', 'limit']);
  const withPeople = approved(small(2));
  expect(bench.outcome(request({ ordinal: 2, bytes: payBytes(withPeople), purpose: withPeople }))).toBe(
    'signed',
  );
  bench.now += 24 * 3_600_000;
  expect(bench.outcome(request({ ordinal: 3, bytes: payBytes(small(3)), purpose: small(3) }))).toBe('signed');
});

test('G3: items that people approved go elsewhere without them only up to the same limit', () => {
  const bench = new Bench((policy) =>
    Object.assign(policy.payouts, { approve_above: '100', unapproved_per_day: '250' }),
  );
  const places = [0, 1, 2];
  const batch = approved(payment({ items: places.map((place) => itemAt(place, '100000000')) }));
  expect(bench.outcome(request({ bytes: payBytes(batch), purpose: batch }))).toBe('signed');
  // An attacker withholds the signed bytes and requests the same places again, each with another recipient.
  const stolen = places.map((place, i) => {
    const items = places.map((at) => ({ ...itemAt(at, at === place ? '99999000' : '1'), to: EVE }));
    const purpose = payment({ items, places: [place] });
    return bench.outcome(request({ ordinal: i + 1, bytes: payBytes(purpose), purpose }));
  });
  expect(stolen).toEqual(['signed', 'signed', 'limit']);
  expect(bench.memory.unapproved('payout').total(bench.now)).toBe(199_998_000n);
  // What may leave in all was counted with the batch.
  expect(bench.memory.hour('payout').total(bench.now)).toBe(300_000_000n);
});

test('an item that nobody can be paid by stops itself alone', () => {
  const lost = { ...itemAt(1), to: BATCH_PAYOUT };
  const batch = approved(payment({ items: [itemAt(0), lost, itemAt(2)] }));
  expect(outcomeOf(batch)).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [1] })).toBe('purpose');
  expect(outcomeOf({ ...batch, places: [0, 2] })).toBe('signed');
});

test('G3: the same batch with more in it each time counts what it exceeds', () => {
  const bench = new Bench((policy) =>
    Object.assign(policy.payouts, { approve_above: '1000', per_hour: '1000' }),
  );
  const ask = (n: number, amount: string) => {
    const purpose = payment({ items: [itemAt(0, amount)] });
    return bench.outcome(request({ ordinal: n, bytes: payBytes(purpose), purpose }));
  };
  expect(ask(0, '1')).toBe('signed');
  expect(ask(1, '600000000')).toBe('signed');
  expect(ask(2, '600000000')).toBe('signed');
  expect(bench.memory.hour('payout').total(bench.now)).toBe(600_000_000n);
  expect(ask(3, '1000000001')).toBe('limit');
});

test('G3: limits of a transfer, an hour, a day and a merchant hold with approvals, too', () => {
  const pay = (bench: Bench, n: number, amount: string, account = 1) => {
    const id = `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    const purpose = approved(
      payment({ id, items: [itemAt(0, amount)], merchant: MERCHANTS[account - 1] ?? '' }),
    );
    return bench.outcome(request({ account, ordinal: n, bytes: payBytes(purpose), purpose }));
  };
  expect(pay(new Bench(), 0, '1000000001')).toBe('limit');
  const bench = new Bench();
  const valid = { validUntil: 1_790_100_000 };
  expect(valid.validUntil).toBeGreaterThan(bench.now / 1000);
  for (const n of [0, 1, 2, 3, 4]) expect(pay(bench, n, '1000000000')).toBe('signed');
  expect(pay(bench, 5, '1')).toBe('limit');
  const merchant = new Bench((policy) =>
    Object.assign(policy.payouts, { per_hour: '10000', per_merchant_day: '1500' }),
  );
  expect(pay(merchant, 0, '1000000000')).toBe('signed');
  expect(pay(merchant, 1, '600000000')).toBe('limit');
  // Another merchant's limit is its own.
  const other = approved(
    payment({ id: OTHER_BATCH, merchant: MERCHANTS[1], items: [itemAt(0, '600000000')] }),
  );
  expect(merchant.outcome(request({ account: 2, bytes: payBytes(other), purpose: other }))).toBe('signed');
});

test('G3: an item is signed again through the contract, which pays it once; as a transfer only out of the budget', () => {
  const refund = payment({ kind: 'refund', items: [itemAt(0, '30000000')] });
  const through = new Bench();
  for (const n of [0, 1, 2])
    expect(through.outcome(request({ ordinal: n, bytes: payBytes(refund), purpose: refund }))).toBe('signed');
  expect(through.memory.day('refund').total(through.now)).toBe(30_000_000n);
  const single = new Bench();
  const ask = (n: number) =>
    single.outcome(request({ ordinal: n, bytes: transferBytes(refund), purpose: refund }));
  expect([ask(0), ask(1), ask(2)]).toEqual(['signed', 'signed', 'item_signed']);
  expect(single.memory.day('refund').total(single.now)).toBe(60_000_000n);
  // The contract knows nothing of the transfers.
  expect(single.outcome(request({ ordinal: 2, bytes: payBytes(refund), purpose: refund }))).toBe(
    'item_signed',
  );
  single.now += 24 * 3_600_000;
  expect(ask(2)).toBe('signed');
});

test('G3: a sequence is signed again for the same contents and higher fees alone', () => {
  const bench = new Bench();
  const batch = approved(payment());
  const at = (maxFee: bigint, priority: bigint, changes = {}) =>
    bench.outcome(
      request({
        bytes: { ...payBytes(batch), maxFeePerGas: maxFee, maxPriorityFeePerGas: priority, ...changes },
        purpose: batch,
      }),
    );
  expect(at(30n * GWEI, GWEI)).toBe('signed');
  expect(at(30n * GWEI, GWEI)).toBe('signed');
  // Fees that are raised too little give the newest version again, and nothing new is remembered.
  expect(at(32n * GWEI, 2n * GWEI)).toBe('signed');
  expect(at(40n * GWEI, GWEI)).toBe('signed');
  const versions = () => bench.memory.sequence(accounts.hot(1).address, '0')?.versions.length;
  expect(versions()).toBe(1);
  expect(at(33n * GWEI, (11n * GWEI) / 10n)).toBe('signed');
  expect(at(30n * GWEI, GWEI)).toBe('signed');
  expect(at(31n * GWEI, GWEI)).toBe('signed');
  expect(versions()).toBe(2);
  const other = approved(payment({ id: OTHER_BATCH }));
  const fees = { maxFeePerGas: 60n * GWEI, maxPriorityFeePerGas: 3n * GWEI };
  // The same attempt with other contents is refused alone; another one for its sequence shows a copy of the database.
  expect(bench.outcome(request({ bytes: { ...payBytes(other), ...fees }, purpose: other }))).toBe('purpose');
  const attempt = request({ ordinal: 1, bytes: { ...payBytes(other), nonce: 0 }, purpose: other });
  expect(bench.outcome(attempt)).toBe('sequence');
  expect(bench.outcome(request({ bytes: { ...payBytes(batch), nonce: 9 }, purpose: batch }))).toBe(
    'sequence',
  );
});

test('an empty payment to the sender takes the place of whatever was signed, for higher fees', () => {
  const bench = new Bench();
  const batch = approved(payment());
  expect(bench.outcome(request({ bytes: payBytes(batch), purpose: batch }))).toBe('signed');
  const fill = (maxFee: bigint, priority: bigint) =>
    bench.outcome(
      request({
        ordinal: 1,
        bytes: {
          to: accounts.hot(1).address,
          nonce: 0,
          maxFeePerGas: maxFee,
          maxPriorityFeePerGas: priority,
        },
        purpose: { kind: 'fill' },
      }),
    );
  expect(fill(31n * GWEI, GWEI)).toBe('fee');
  expect(fill(60n * GWEI, 3n * GWEI)).toBe('signed');
  expect(fill(60n * GWEI, 3n * GWEI)).toBe('signed');
  const other = approved(payment({ id: OTHER_BATCH }));
  const attempt = request({ ordinal: 2, bytes: { ...payBytes(other), nonce: 0 }, purpose: other });
  expect(bench.outcome(attempt)).toBe('sequence');
});

test('G3: fees have ceilings, and a day has one', () => {
  const bench = new Bench();
  const fill = (n: number, changes: object) =>
    bench.outcome(
      request({ ordinal: n, bytes: { to: accounts.hot(1).address, ...changes }, purpose: { kind: 'fill' } }),
    );
  expect(fill(0, { maxFeePerGas: 201n * GWEI })).toBe('fee');
  expect(fill(0, { maxPriorityFeePerGas: 11n * GWEI })).toBe('fee');
  expect(fill(0, { gas: 16_000_001n })).toBe('fee');
  const dear = { maxFeePerGas: 200n * GWEI, gas: 10_000_000n };
  expect([fill(0, dear), fill(1, dear), fill(2, dear)]).toEqual(['signed', 'signed', 'fee']);
  expect(fill(2, { maxFeePerGas: 100n * GWEI, gas: 10_000_000n })).toBe('signed');
});

test('G3: an older copy of the database gets no signature', () => {
  const bench = new Bench();
  const [batch, other] = [approved(payment()), approved(payment({ id: OTHER_BATCH }))];
  const ask = (asked: Partial<Parameters<typeof request>[0]>) =>
    bench.outcome(request({ bytes: payBytes(batch), purpose: batch, ...asked }));
  expect(ask({})).toBe('signed');
  expect(ask({ ordinal: 1, bytes: payBytes(other), purpose: other })).toBe('signed');
  // It counts on from 1 with an attempt of its own.
  expect(ask({ ordinal: 1, attempt: 'copy', bytes: { ...payBytes(other), nonce: 2 }, purpose: other })).toBe(
    'history',
  );
  expect(ask({ ordinal: 2, history: 'second' })).toBe('history');
  expect(ask({ ordinal: 5, bytes: payBytes(other), purpose: other })).toBe('unknown_attempts');
});

test('G3: a frozen signer signs nothing, not even what it has signed', () => {
  const bench = new Bench();
  const batch = approved(payment());
  const asked = request({ bytes: payBytes(batch), purpose: batch });
  expect(bench.outcome(asked)).toBe('signed');
  bench.memory.apply({ type: 'freeze', at: bench.now, reason: 'drill' });
  expect(bench.outcome(asked)).toBe('frozen');
  bench.memory.apply({ type: 'unfreeze', at: bench.now });
  expect(bench.outcome(asked)).toBe('signed');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concat } from './bytes.ts';
import {
  approvedOn,
  BATCHES,
  itemOf,
  OnceBench,
  paymentOn,
  somebody,
  tron,
  tronPaying,
  tronRequest,
  tronTransfer,
  withBytes,
} from './test-once.ts';
import { USDC } from './test-policy.ts';
import { MERCHANTS, START } from './test-requests.ts';

const EVE = tron.deposit(666, 0);
const batch = approvedOn('trc20', paymentOn('trc20'));
const sound = tronRequest({ purpose: batch, bytes: { contract: tronPaying(batch) } });
/** As the next attempt, built a while later. */
const again = (ordinal: number, time = START) =>
  tronRequest({ ordinal, purpose: batch, bytes: { contract: tronPaying(batch), time } });
const MINUTE = 60_000;

test('G3 trc20: an approved item is signed, and bytes that do anything else are refused in one line', () => {
  expect(new OnceBench().outcome(sound)).toBe('signed');
  const paying = tronPaying(batch);
  const [hot, alice] = [tron.hot(1), somebody('trc20', 0)];
  const cases: [line: string, request: typeof sound][] = [
    [
      `place 0 goes to ${EVE}`,
      tronRequest({ purpose: batch, bytes: { contract: tronTransfer(hot, EVE, 1_000_000n) } }),
    ],
    [
      'place 0 is of 1000001',
      tronRequest({ purpose: batch, bytes: { contract: tronTransfer(hot, alice, 1_000_001n) } }),
    ],
    [
      'another token',
      tronRequest({ purpose: batch, bytes: { contract: tronTransfer(hot, alice, 1_000_000n, EVE) } }),
    ],
    ['it is sent by', tronRequest({ purpose: batch, bytes: { contract: tronPaying(batch, 2) } })],
    [
      'fee: fee_limit is above 100000000',
      tronRequest({ purpose: batch, bytes: { contract: paying, feeLimit: 100_000_001n } }),
    ],
    [
      'it is valid for longer',
      tronRequest({ purpose: batch, bytes: { contract: paying, validMs: 600_001 } }),
    ],
    ['cannot be read', withBytes(sound, (bytes) => concat(bytes, Uint8Array.of(0x78, 1)))],
    // A second contract in the same transaction.
    ['cannot be read', withBytes(sound, (bytes) => concat(bytes, contractIn(bytes)))],
    ['policy: it is for the network that begins with', { ...sound, genesis: 'f'.repeat(64) }],
    ['policy: it is for the network that begins with nothing', withoutGenesis()],
    ['nothing on trc20 is to fill', { ...sound, purpose: { kind: 'fill' } }],
  ];
  for (const [line, request] of cases) {
    const said = new OnceBench().outcome(request);
    expect(said).toContain(line);
    expect(said.split('\n')).toHaveLength(1);
  }
  const other = approvedOn('spl', paymentOn('trc20'));
  expect(new OnceBench().outcome(tronRequest({ purpose: other, bytes: { contract: paying } }))).toMatch(
    'approvals: ',
  );
  const none = new OnceBench((policy) => Reflect.deleteProperty(policy.networks, 'trc20'));
  expect(none.outcome(sound)).toBe('policy: the policy has no trc20.');
});

/** Field 11 of the raw data, with its tag and length. */
function contractIn(raw: Uint8Array): Uint8Array {
  const at = raw.indexOf(0x5a);
  const [low = 0, high = 0] = raw.subarray(at + 1, at + 3);
  const size = low < 0x80 ? 2 + low : 3 + (low & 0x7f) + (high << 7);
  return raw.slice(at, at + size);
}

function withoutGenesis(): typeof sound {
  const { genesis: _, ...rest } = sound;
  return rest;
}

test('G3 trc20: rows that are edited after the approval are refused for want of one', () => {
  const edits = [
    { ...batch, items: [{ ...itemOf('trc20', 0), to: EVE }, itemOf('trc20', 1, '2000000')] },
    { ...batch, items: [itemOf('trc20', 0, '999999'), itemOf('trc20', 1, '2000000')] },
    { ...batch, id: BATCHES[1] },
    { ...batch, merchant: MERCHANTS[1] },
    { ...batch, approvals: [] },
  ];
  for (const purpose of edits)
    expect(
      new OnceBench().outcome(tronRequest({ purpose, bytes: { contract: tronPaying(purpose) } })),
    ).toMatch(/^approvals: /);
});

test('trc20: an attempt has one transaction for ever: asked again with other bytes it gets the first ones', () => {
  const bench = new OnceBench();
  const first = bench.sign(sound);
  expect(bench.sign(sound)).toBe(first);
  const later = again(0, START + 5_000);
  expect(later.unsigned).not.toBe(sound.unsigned);
  expect(bench.sign(later)).toBe(first);
  expect(bench.entries).toHaveLength(1);
  bench.restart();
  bench.now += 20 * MINUTE;
  expect(bench.sign(later)).toBe(first);
  // For another purpose it gets none.
  const other = approvedOn('trc20', paymentOn('trc20', { places: [1] }));
  const swapped = tronRequest({ purpose: other, bytes: { contract: tronPaying(other) } });
  expect(bench.outcome(swapped)).toMatch(/^purpose: .*place 1/);
  expect(bench.outcome({ ...sound, account: 2 })).toMatch(/^purpose: /);
  expect(bench.outcome({ ...sound, network: 'spl', genesis: bench.policy.spl?.genesis ?? '' })).toBe(
    'sequence: this attempt was signed for another network.',
  );
});

test('trc20: bytes that were signed for one attempt are refused for another', () => {
  const bench = new OnceBench();
  const twin = paymentOn('trc20', { items: [itemOf('trc20', 0), { ...itemOf('trc20', 0), place: 1 }] });
  const first = approvedOn('trc20', twin);
  const second = { ...first, places: [1] };
  const ask = (ordinal: number, purpose: typeof first, time: number) =>
    tronRequest({ ordinal, purpose, bytes: { contract: tronPaying(purpose), time } });
  expect(bench.outcome(ask(0, first, START))).toBe('signed');
  // Equal items of one batch: the second would be the same transaction, and be paid once.
  expect(bench.outcome(ask(1, second, START))).toMatch(/^limit: this transaction was signed for the attempt/);
  expect(bench.outcome(ask(1, second, START + 1))).toBe('signed');
});

test('trc20: an item is signed anew once its transaction has expired, with a margin, and counts each time', () => {
  const bench = new OnceBench((policy) =>
    Object.assign(policy.payouts, { per_hour: '2', per_transfer: '2' }),
  );
  expect(bench.outcome(sound)).toBe('signed');
  bench.now = START + MINUTE + 5 * MINUTE - 1;
  expect(bench.outcome(again(1, bench.now))).toMatch(/^limit: .*before it has expired/);
  bench.now += 1;
  bench.restart();
  expect(bench.outcome(again(1, bench.now))).toBe('signed');
  expect(bench.memory.hour('payout').total(bench.now)).toBe(2_000_000n);
  bench.now += 6 * MINUTE;
  expect(bench.outcome(again(2, bench.now))).toMatch(/^limit: per_hour/);
});

test('trc20: an approval covers an item once: what is signed anew after an expiry counts as unapproved', () => {
  const bench = new OnceBench((policy) => Object.assign(policy.payouts, { unapproved_per_day: '2' }));
  const outcomes = [0, 1, 2, 3].map((ordinal) => {
    bench.now += 6 * MINUTE;
    bench.restart();
    return bench.outcome(again(ordinal, bench.now));
  });
  expect(outcomes.slice(0, 3)).toEqual(['signed', 'signed', 'signed']);
  expect(outcomes[3]).toMatch(/^limit: unapproved_per_day/);
  expect(bench.memory.unapproved('payout').total(bench.now)).toBe(2_000_000n);
  // What people approve and what was not signed before goes on.
  const other = approvedOn('trc20', paymentOn('trc20', { id: BATCHES[1] }));
  const asked = tronRequest({
    ordinal: 3,
    purpose: other,
    bytes: { contract: tronPaying(other), time: bench.now },
  });
  expect(bench.outcome(asked)).toBe('signed');
});

test('trc20: whatever is asked for and when, approved items are paid again only within unapproved_per_day', () => {
  const batches = BATCHES.map((id) =>
    approvedOn('trc20', paymentOn('trc20', { id }), START / 1000 + 864_000),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ batch: fc.nat(2), minutes: fc.nat(400) }), { minLength: 1, maxLength: 25 }),
      (steps) => {
        const bench = new OnceBench((policy) => Object.assign(policy.payouts, { unapproved_per_day: '3' }));
        const seen = new Set<number>();
        const second: number[] = [];
        let ordinal = 0;
        for (const { batch, minutes } of steps) {
          const purpose = batches[batch];
          if (purpose === undefined) continue;
          bench.now += minutes * MINUTE;
          const time = bench.now + ordinal;
          const asked = tronRequest({ ordinal, purpose, bytes: { contract: tronPaying(purpose), time } });
          if (bench.outcome(asked) !== 'signed') continue;
          ordinal += 1;
          if (seen.has(batch)) second.push(bench.now);
          seen.add(batch);
        }
        for (const at of second)
          expect(second.filter((one) => one <= at && one > at - 1_440 * MINUTE).length).toBeLessThanOrEqual(
            3,
          );
      },
    ),
    { numRuns: 100 },
  );
});

test('trc20: too early an item is signed anew only out of the budget, and then the last expiry counts', () => {
  const bench = new OnceBench((policy) => Object.assign(policy.payouts, { resend_per_day: '1' }));
  expect(bench.outcome(sound)).toBe('signed');
  bench.now += MINUTE;
  expect(bench.outcome(again(1, bench.now))).toBe('signed');
  expect(bench.outcome(again(2, bench.now + 1))).toMatch(/^limit: /);
  bench.now = START + 6 * MINUTE;
  expect(bench.outcome(again(2, bench.now))).toMatch(/^limit: /);
  bench.now += MINUTE;
  expect(bench.outcome(again(2, bench.now))).toBe('signed');
});

test('trc20: what has expired is not signed, and a clock that is put back gives nothing back', () => {
  const bench = new OnceBench();
  bench.now = START + MINUTE;
  expect(bench.outcome(sound)).toMatch(/^limit: it has expired/);
  expect(bench.entries).toEqual([]);
});

test('trc20: what may be burnt in a day has a ceiling, and so has the TRX that is given away', () => {
  const bench = new OnceBench((policy) =>
    Object.assign(policy.networks.trc20, { native_fee_per_day: '65000000', gas_top_ups_per_day: '30000000' }),
  );
  const item = (n: number) => {
    const purpose = approvedOn('trc20', paymentOn('trc20', { id: BATCHES[n] ?? '' }), START / 1000 + 90_000);
    return tronRequest({
      ordinal: n,
      purpose,
      bytes: { contract: tronPaying(purpose), time: bench.now + n },
    });
  };
  expect([0, 1].map((n) => bench.outcome(item(n)))).toEqual(['signed', 'signed']);
  expect(bench.outcome(item(2))).toMatch(/^fee: native_fee_per_day of the policy for trc20/);
  const gas = (ordinal: number, amount: bigint, index?: number) => {
    const to = index === undefined ? tron.hot(1) : tron.deposit(1, index);
    return tronRequest({
      account: 0,
      ordinal,
      purpose: { kind: 'gas', account: 1, ...(index !== undefined && { index }) },
      bytes: { contract: { kind: 'transfer', owner: tron.hot(0), to, amount }, time: START + ordinal },
    });
  };
  expect(bench.outcome(gas(0, 20_000_001n))).toMatch(/^limit: gas_top_up of the policy is 20000000 sun/);
  expect(bench.outcome(gas(0, 20_000_000n))).toBe('signed');
  expect(bench.outcome(gas(1, 10_000_001n, 3))).toMatch(/^limit: gas_top_ups_per_day/);
  expect(bench.outcome(gas(1, 10_000_000n, 3))).toBe('signed');
  bench.now += 24 * 60 * MINUTE;
  expect(bench.outcome(item(2))).toBe('signed');
});

test('trc20: a sweep is sent by its deposit address, into the hot wallet of its account alone', () => {
  const bench = new OnceBench();
  const sweep = (index: number, to: string, deposits = [{ index, asset: 'USDT', amount: '7' } as const]) =>
    tronRequest({
      purpose: { kind: 'sweep', merchant: MERCHANTS[0], account: 1, deposits, delegates: [] },
      attempt: `sweep ${index} ${to}`,
      bytes: { contract: tronTransfer(tron.deposit(1, index), to, 7n) },
    });
  expect(bench.outcome(sweep(4, EVE))).toMatch(/^purpose: .*the sweep goes to/);
  expect(bench.outcome(sweep(4, tron.hot(1)))).toBe('signed');
  // Each address numbers its own attempts.
  expect(bench.outcome(sweep(5, tron.hot(1)))).toBe('signed');
  const two = [4, 5].map((index) => ({ index, asset: 'USDT', amount: '7' }) as const);
  expect(bench.outcome(sweep(6, tron.hot(1), two))).toMatch(/^purpose: .*a sweep is of one address/);
});

test('trc20: frozen, of another history, or of an unknown number, nothing is signed', () => {
  const bench = new OnceBench();
  expect(bench.outcome(sound)).toBe('signed');
  expect(
    bench.outcome({ ...again(1, START + 1), attempt: { ...again(1).attempt, history: 'copy' } }),
  ).toMatch(/^history: /);
  const copy = tronRequest({
    attempt: 'of a copy',
    purpose: batch,
    bytes: { contract: tronPaying(batch), time: START + 1 },
  });
  expect(bench.outcome(copy)).toMatch(/^history: number 0 of T/);
  expect(bench.outcome(again(5, START + 1))).toMatch(/^unknown_attempts: /);
  bench.apply({ type: 'freeze', at: bench.now, reason: 'drill' });
  expect(bench.outcome(sound)).toMatch(/^frozen: /);
  bench.apply({ type: 'unfreeze', at: bench.now });
  expect(bench.outcome(sound)).toBe('signed');
});

test("trc20: an account of one network is not the other's: each has its own merchant", () => {
  const bench = new OnceBench();
  const other = approvedOn('trc20', paymentOn('trc20', { merchant: MERCHANTS[1], id: BATCHES[1] }));
  expect(bench.outcome(sound)).toBe('signed');
  const ask = (account: number, ordinal: number) =>
    tronRequest({
      account,
      ordinal,
      purpose: other,
      bytes: { contract: tronPaying(other, account), time: START + 1 },
    });
  expect(bench.outcome(ask(1, 1))).toMatch(/^purpose: account 1 belongs to merchant/);
  expect(bench.outcome(ask(2, 0))).toBe('signed');
  expect(bench.memory.merchantOf('erc20', 1)).toBeUndefined();
  const fixed = new OnceBench((policy) =>
    Object.assign(policy.networks.trc20, { accounts: { 1: MERCHANTS[1] } }),
  );
  expect(fixed.outcome(sound)).toMatch(/^purpose: account 1 belongs to merchant/);
});

test('trc20: addresses of other networks, contracts and burnt coins are no recipients', () => {
  const places = [USDC, 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'];
  for (const to of [...places, tron.hot(1), tron.hot(0), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t']) {
    const purpose = approvedOn('trc20', paymentOn('trc20', { items: [{ ...itemOf('trc20', 0), to }] }));
    const said = new OnceBench().outcome(tronRequest({ purpose, bytes: { contract: tronPaying(batch) } }));
    expect(said).toMatch(/^purpose: .*(is none of this network|where coins would be lost)/);
  }
});

test('trc20: a payment of several places is refused before its places are read', () => {
  const several = approvedOn('trc20', paymentOn('trc20', { places: [0, 7_777] }));
  const asked = tronRequest({ purpose: several, bytes: { contract: tronPaying(several) } });
  expect(new OnceBench().outcome(asked)).toMatch(/^purpose: .*a transfer pays one item/);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex } from './bytes.ts';
import { encodeCall } from './calldata.ts';
import {
  batchPayoutDeployment,
  collectorAccount,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  delegateDeployment,
  groupOf,
  sweeperDeployment,
} from './contracts.ts';
import type { Purpose } from './protocol.ts';
import { policyText, USDC, USDT } from './test-policy.ts';
import {
  accounts,
  approved,
  BATCH_PAYOUT,
  Bench,
  type Bytes,
  GWEI,
  itemAt,
  MERCHANTS,
  payBytes,
  payment,
  request,
} from './test-requests.ts';

const TANK = accounts.hot(0).address;
const HOME = accounts.hot(3).address;
const EVE = accounts.deposit(666, 0).address;
const { address: SWEEPER } = sweeperDeployment(TANK);

const outcome = (account: number, purpose: Purpose, bytes: Partial<Bytes>) =>
  new Bench().outcome(request({ account, bytes, purpose }));

const sweep: Extract<Purpose, { kind: 'sweep' }> = {
  kind: 'sweep',
  merchant: MERCHANTS[0],
  account: 3,
  deposits: [
    { index: 7, asset: 'USDT', amount: '5' },
    { index: 9, asset: 'USDC', amount: '6' },
  ],
  delegates: [{ index: 9, nonce: '0' }],
};
const sweeps = [
  { from: accounts.deposit(3, 7).address, token: USDT, amount: 5n },
  { from: accounts.deposit(3, 9).address, token: USDC, amount: 6n },
];
const sweepBytes = { to: SWEEPER, type: 4 as const, data: encodeCall({ kind: 'sweep', sweeps }) };

test('a sweep goes from the addresses of an account to its hot wallet, through our contracts alone', () => {
  const verdict = new Bench().ask(request({ account: 0, bytes: sweepBytes, purpose: sweep }));
  const { address: delegate } = delegateDeployment(HOME, SWEEPER);
  expect(verdict.delegations).toEqual([{ account: 3, index: 9, nonce: 0n, delegate }]);
  const plain = { ...sweep, delegates: [] };
  expect(outcome(0, plain, { ...sweepBytes, type: 2 })).toBe('signed');
  expect(outcome(0, plain, sweepBytes)).toBe('purpose');
  expect(outcome(0, sweep, { ...sweepBytes, type: 2 })).toBe('purpose');
  expect(outcome(3, sweep, sweepBytes)).toBe('purpose');
  expect(outcome(0, { ...sweep, account: 4 }, sweepBytes)).toBe('purpose');
  expect(outcome(0, sweep, { ...sweepBytes, to: EVE })).toBe('purpose');
  expect(outcome(0, { ...sweep, delegates: [{ index: 8, nonce: '0' }] }, sweepBytes)).toBe('purpose');
  expect(outcome(0, { ...sweep, deposits: sweep.deposits.slice(1) }, sweepBytes)).toBe('purpose');
  const changed = sweeps.map((one, i) => (i === 0 ? { ...one, amount: 50n } : one));
  expect(outcome(0, sweep, { ...sweepBytes, data: encodeCall({ kind: 'sweep', sweeps: changed }) })).toBe(
    'purpose',
  );
  const foreign = sweeps.map((one, i) => (i === 0 ? { ...one, from: accounts.deposit(4, 7).address } : one));
  expect(outcome(0, sweep, { ...sweepBytes, data: encodeCall({ kind: 'sweep', sweeps: foreign }) })).toBe(
    'purpose',
  );
});

test('a sweep that is asked for again is given as it was signed, whoever has delegated meanwhile', () => {
  const bench = new Bench();
  const ask = (purpose: Purpose, type: 2 | 4, maxFeePerGas = 30n * GWEI) =>
    bench.ask(request({ account: 0, bytes: { ...sweepBytes, type, maxFeePerGas }, purpose }));
  const first = ask(sweep, 4);
  const plain = { ...sweep, delegates: [] };
  expect(ask(plain, 2, 31n * GWEI)).toEqual({ ...first, entry: null });
  const raised = { maxFeePerGas: 60n * GWEI, maxPriorityFeePerGas: 3n * GWEI };
  const second = bench.ask(
    request({ account: 0, bytes: { ...sweepBytes, ...raised, type: 2 }, purpose: plain }),
  );
  expect(second).toMatchObject({ tx: { type: 2, maxFeePerGas: 60n * GWEI }, delegations: [] });
  expect(ask(sweep, 4)).toEqual({ ...first, entry: null });
});

test('gas goes from the tank to hot wallets of ours, up to the ceilings', () => {
  const gas = { kind: 'gas', account: 3 } as const;
  const value = 10n ** 17n;
  expect(outcome(0, gas, { to: HOME, value })).toBe('signed');
  expect(outcome(0, gas, { to: HOME, value: value + 1n })).toBe('limit');
  expect(outcome(0, gas, { to: EVE, value })).toBe('purpose');
  expect(outcome(0, gas, { to: HOME, value, data: Uint8Array.of(1) })).toBe('purpose');
  expect(outcome(3, gas, { to: HOME, value })).toBe('purpose');
  expect(outcome(0, { kind: 'gas', account: 0 }, { to: TANK, value })).toBe('purpose');
  const bench = new Bench();
  const outcomes = Array.from({ length: 11 }, (_, n) =>
    bench.outcome(request({ account: 0, ordinal: n, bytes: { to: HOME, value }, purpose: gas })),
  );
  expect(outcomes).toEqual([...Array.from({ length: 10 }, () => 'signed'), 'limit']);
});

test('a token is approved for the payout contract, up to the ceiling', () => {
  const approve = (amount: bigint) => ({ kind: 'approve', asset: 'USDT', amount: String(amount) }) as const;
  const bytes = (amount: bigint, spender = BATCH_PAYOUT) => ({
    to: USDT,
    data: encodeCall({ kind: 'approve', spender, amount }),
  });
  expect(outcome(1, approve(0n), bytes(0n))).toBe('signed');
  expect(outcome(1, approve(10n ** 12n), bytes(10n ** 12n))).toBe('signed');
  expect(outcome(1, approve(10n ** 12n + 1n), bytes(10n ** 12n + 1n))).toBe('limit');
  expect(outcome(1, approve(5n), bytes(6n))).toBe('purpose');
  expect(outcome(1, approve(5n), bytes(5n, EVE))).toBe('purpose');
  expect(outcome(1, approve(5n), { ...bytes(5n), to: USDC })).toBe('purpose');
  expect(outcome(0, approve(5n), bytes(5n))).toBe('purpose');
});

const COLLECTOR = policyText().networks.erc20.collector ?? '';
const OWNER = accounts.owner(3).address;
const PAYER = accounts.deposit(900, 1).address;
const CHARGE_ID = '01890000-0000-7000-8000-0000000000cc';
const charge = {
  kind: 'charge',
  id: CHARGE_ID,
  asset: 'USDC',
  payer: PAYER,
  amount: '5',
} satisfies Purpose;

function chargeCall(changes: { token?: string; account?: Uint8Array; payer?: string; amount?: bigint } = {}) {
  const { token = USDC, account = collectorAccount(OWNER, HOME), payer = PAYER, amount = 5n } = changes;
  const mandate = { payer, token, account, terms: Array.from({ length: 6 }, () => new Uint8Array(32)) };
  const windows = { windowStart: 1n, windowEnd: 2n };
  const ids = { id: groupOf(CHARGE_ID), subscription: groupOf(CHARGE_ID) };
  return { mandate, amount, ...windows, ...ids };
}

test('a charge is for the account of its hot wallet, which the signer computes, and of the mandate that was asked for', () => {
  const of = (changes: Parameters<typeof chargeCall>[0] = {}, bytes: Partial<Bytes> = {}) =>
    outcome(3, charge, {
      to: COLLECTOR,
      data: encodeCall({ kind: 'charge', ...chargeCall(changes) }),
      ...bytes,
    });
  expect(of()).toBe('signed');
  expect(of({ amount: 6n })).toBe('purpose');
  expect(of({ token: USDT })).toBe('purpose');
  expect(of({ payer: EVE })).toBe('purpose');
  expect(of({ account: collectorAccount(EVE, HOME) })).toBe('purpose');
  expect(of({ account: collectorAccount(OWNER, EVE) })).toBe('purpose');
  expect(of({}, { to: EVE })).toBe('purpose');
  expect(of({}, { value: 1n })).toBe('purpose');
  const data = encodeCall({ kind: 'charge', ...chargeCall() });
  for (const account of [0, 4]) expect(outcome(account, charge, { to: COLLECTOR, data })).toBe('purpose');
  expect(outcome(3, { ...charge, id: MERCHANTS[0] }, { to: COLLECTOR, data })).toBe('purpose');
  expect(outcome(3, { kind: 'activate', asset: 'USDC', payer: PAYER }, { to: COLLECTOR, data })).toBe(
    'purpose',
  );
  const bench = new Bench(({ networks }) => delete networks.erc20.collector);
  expect(bench.outcome(request({ account: 3, bytes: { to: COLLECTOR, data }, purpose: charge }))).toBe(
    'policy',
  );
});

test('an activation is of a mandate for the account, with a permit or without', () => {
  const purpose = { kind: 'activate', asset: 'USDC', payer: PAYER } as const;
  const of = (changes: Parameters<typeof chargeCall>[0] = {}, permit: readonly Uint8Array[] = []) => {
    const { mandate } = chargeCall(changes);
    const data = encodeCall({ kind: 'activate', mandate, signature: new Uint8Array(65), permit });
    return outcome(3, purpose, { to: COLLECTOR, data });
  };
  expect(of()).toBe('signed');
  const words = (...numbers: bigint[]) =>
    numbers.map((number) => fromHex(`0x${number.toString(16).padStart(64, '0')}`));
  expect(of({}, words(0n, 0n, 27n, 1n, 1n))).toBe('signed');
  expect(of({ token: USDT })).toBe('purpose');
  expect(of({ payer: EVE })).toBe('purpose');
  expect(of({ account: collectorAccount(accounts.owner(4).address, HOME) })).toBe('purpose');
});

test('a permit allows what its mandate can take in three years, and ends within a week of the mandate’s beginning', () => {
  const purpose = { kind: 'activate', asset: 'USDC', payer: PAYER } as const;
  const word = (number: bigint) => fromHex(`0x${number.toString(16).padStart(64, '0')}`);
  const of = (numbers: { cap: bigint; period: bigint; count: bigint; start: bigint }, permit: bigint[]) => {
    const terms = [numbers.cap, numbers.period, numbers.count, numbers.start, 0n, 1n].map(word);
    const mandate = { ...chargeCall().mandate, terms };
    const words = [...permit, 27n, 1n, 1n].map(word);
    const data = encodeCall({ kind: 'activate', mandate, signature: new Uint8Array(65), permit: words });
    return outcome(3, purpose, { to: COLLECTOR, data });
  };
  const DAY = 86_400n;
  const number = (most: bigint) => fc.bigInt({ min: 1n, max: most });
  fc.assert(
    fc.property(number(2n ** 60n), number(65_535n), number(2n ** 32n), (cap, count, start) => {
      for (const [days, windows] of [
        [1n, 1_096n],
        [7n, 156n],
        [28n, 39n],
        [365n, 3n],
      ] as const) {
        const terms = { cap, period: days * DAY, count, start };
        const most = cap * count * windows;
        expect(of(terms, [most, start + 7n * DAY])).toBe('signed');
        expect(of(terms, [most, start + 7n * DAY + 1n])).toBe('purpose');
        expect(of(terms, [cap * count * (windows + 1n), start])).toBe('purpose');
        expect(of(terms, [2n ** 256n - 1n, start])).toBe('purpose');
      }
    }),
    { numRuns: 20 },
  );
});

test('the tank opens an account whose owner, operator and home are keys of that account alone', () => {
  const of = (parties: Partial<Record<'owner' | 'operator' | 'home', string>> = {}, sender = 0) => {
    const call = { kind: 'open', owner: OWNER, operator: HOME, home: HOME, ...parties } as const;
    return outcome(sender, { kind: 'account', account: 3 }, { to: COLLECTOR, data: encodeCall(call) });
  };
  expect(of()).toBe('signed');
  expect(of({}, 3)).toBe('purpose');
  for (const party of ['owner', 'operator', 'home'] as const) expect(of({ [party]: EVE })).toBe('purpose');
  expect(of({ owner: HOME })).toBe('purpose');
});

test('no payout goes to the collector', () => {
  const purpose = approved(payment({ items: [{ ...itemAt(0), to: COLLECTOR }] }));
  expect(outcome(1, purpose, payBytes(purpose))).toBe('purpose');
});

test('contracts are deployed as the signer has them, by the tank', () => {
  const to = DETERMINISTIC_DEPLOYER;
  const sweeper = { kind: 'deploy', contract: 'sweeper' } as const;
  const { data } = sweeperDeployment(TANK);
  expect(outcome(0, sweeper, { to, data })).toBe('signed');
  expect(
    outcome(0, { kind: 'deploy', contract: 'batch_payout' }, { to, data: batchPayoutDeployment().data }),
  ).toBe('signed');
  expect(
    outcome(0, { kind: 'deploy', contract: 'collector' }, { to, data: collectorDeployment().data }),
  ).toBe('signed');
  const delegate = delegateDeployment(HOME, SWEEPER).data;
  const purpose = { kind: 'deploy', contract: 'sweep_delegate', account: 3 } as const;
  expect(outcome(0, purpose, { to, data: delegate })).toBe('signed');
  expect(outcome(0, { ...purpose, account: 4 }, { to, data: delegate })).toBe('purpose');
  expect(outcome(0, sweeper, { to, data: sweeperDeployment(EVE).data })).toBe('purpose');
  expect(outcome(0, sweeper, { to: EVE, data })).toBe('purpose');
  expect(outcome(1, sweeper, { to, data })).toBe('purpose');
});

test('a hole is filled by an empty payment to the sender', () => {
  const fill = { kind: 'fill' } as const;
  expect(outcome(3, fill, { to: HOME })).toBe('signed');
  expect(outcome(3, fill, { to: EVE })).toBe('purpose');
  expect(outcome(3, fill, { to: HOME, value: 1n })).toBe('purpose');
  expect(outcome(3, fill, { to: HOME, data: Uint8Array.of(1) })).toBe('purpose');
});

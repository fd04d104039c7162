import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeCall } from './calldata.ts';
import { collectorAccount, delegateDeployment, groupOf, sweeperDeployment } from './contracts.ts';
import type { Purpose } from './protocol.ts';
import { policyText, USDC, USDT } from './test-policy.ts';
import {
  accounts,
  approved,
  Bench,
  type Bytes,
  MERCHANTS,
  payBytes,
  payment,
  request,
  START,
  transferBytes,
} from './test-requests.ts';

const ACCOUNT = 3;
const HOT = [0, 1, 2].map((epoch) => accounts.hot(ACCOUNT, epoch).address);
const at = (epoch: number) => HOT[epoch] ?? '';
const EVE = accounts.deposit(666, 0).address;

/** A signer whose account is in that epoch. */
function inEpoch(epoch: number): Bench {
  const bench = new Bench();
  for (let next = 1; next <= epoch; next++)
    bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: next });
  return bench;
}
const outcome = (bench: Bench, epoch: number, purpose: Purpose, bytes: Partial<Bytes>) =>
  bench.outcome(request({ account: ACCOUNT, epoch, bytes, purpose }));
const fromTank = (bench: Bench, purpose: Purpose, bytes: Partial<Bytes>) =>
  bench.outcome(request({ account: 0, bytes, purpose }));
const move = (asset: 'USDT' | 'USDC' | null, amount: bigint) =>
  ({ kind: 'move', asset, amount: String(amount) }) as const;
const moveBytes = (to: string, amount: bigint, token = USDT) => ({
  to: token,
  data: encodeCall({ kind: 'transfer', to, amount }),
});
const batch = approved(payment());

test('each epoch of an account has a wallet of its own, which pays only while it is the present one', () => {
  expect(new Set(HOT).size).toBe(3);
  expect(at(0)).toBe(accounts.hot(ACCOUNT).address);
  const sent = (present: number, epoch: number) => outcome(inEpoch(present), epoch, batch, payBytes(batch));
  expect([sent(0, 0), sent(1, 1), sent(2, 2)]).toEqual(['signed', 'signed', 'signed']);
  expect([sent(0, 1), sent(1, 0), sent(2, 1), sent(1, 2)]).toEqual(Array(4).fill('epoch'));
  const verdict = inEpoch(1).ask(
    request({ account: ACCOUNT, epoch: 1, bytes: payBytes(batch), purpose: batch }),
  );
  expect(verdict.entry?.sender).toBe(at(1));
});

test('a rotated wallet hands its coins over to the present one and nowhere else, and closes its sequences', () => {
  for (const present of [1, 2])
    for (let epoch = 0; epoch < present; epoch++) {
      const asked = (purpose: Purpose, bytes: Partial<Bytes>) =>
        outcome(inEpoch(present), epoch, purpose, bytes);
      expect(asked(move('USDT', 5n), moveBytes(at(present), 5n))).toBe('signed');
      expect(asked(move('USDC', 5n), moveBytes(at(present), 5n, USDC))).toBe('signed');
      expect(asked(move(null, 5n), { to: at(present), value: 5n })).toBe('signed');
      expect(asked({ kind: 'fill' }, { to: at(epoch) })).toBe('signed');
      const wrong: [Purpose, Partial<Bytes>][] = [
        [move('USDT', 5n), moveBytes(EVE, 5n)],
        [move('USDT', 5n), moveBytes(at(epoch), 5n)],
        [move('USDT', 5n), moveBytes(at(present), 6n)],
        [move('USDC', 5n), moveBytes(at(present), 5n)],
        [move('USDT', 5n), { ...moveBytes(at(present), 5n), value: 1n }],
        [move(null, 5n), { to: EVE, value: 5n }],
        [move(null, 5n), { to: at(present), value: 6n }],
        [move(null, 5n), { to: at(present), value: 5n, data: Uint8Array.of(1) }],
        [{ kind: 'fill' }, { to: at(present) }],
      ];
      for (const [purpose, bytes] of wrong) expect(asked(purpose, bytes)).toBe('purpose');
    }
  expect(outcome(inEpoch(1), 1, move('USDT', 5n), moveBytes(at(1), 5n))).toBe('purpose');
  expect(outcome(inEpoch(0), 0, move('USDT', 5n), moveBytes(at(0), 5n))).toBe('purpose');
});

test('what a rotated wallet signed for an item counts for the wallet after it: nothing is paid twice', () => {
  const bench = inEpoch(0);
  const sign = (epoch: number, bytes: Partial<Bytes>, ordinal = 0) =>
    bench.outcome(request({ account: ACCOUNT, epoch, ordinal, bytes, purpose: batch }));
  expect(sign(0, payBytes(batch))).toBe('signed');
  bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 1 });
  // The contract pays a place once for each sender, and this is another one.
  expect(sign(1, payBytes(batch))).toBe('item_signed');
  const single = { ...batch, places: [0] };
  const alone = request({
    account: ACCOUNT,
    epoch: 1,
    attempt: 'alone',
    bytes: transferBytes(single),
    purpose: single,
  });
  expect(bench.outcome(alone)).toBe('item_signed');
});

test('sweeps, gas and the delegate go to the present wallet, as the caller has to know', () => {
  const { address: sweeper } = sweeperDeployment(accounts.hot(0).address);
  const sweeps = [{ from: accounts.deposit(ACCOUNT, 7).address, token: USDT, amount: 5n }];
  const sweep = (epoch?: number): Purpose => ({
    kind: 'sweep',
    merchant: MERCHANTS[0],
    account: ACCOUNT,
    ...(epoch === undefined ? {} : { epoch }),
    deposits: [{ index: 7, asset: 'USDT', amount: '5' }],
    delegates: [{ index: 7, nonce: '0' }],
  });
  const bytes = { to: sweeper, type: 4 as const, data: encodeCall({ kind: 'sweep', sweeps }) };
  expect(fromTank(inEpoch(1), sweep(), bytes)).toBe('epoch');
  expect(fromTank(inEpoch(0), sweep(1), bytes)).toBe('epoch');
  const verdict = inEpoch(1).ask(request({ account: 0, bytes, purpose: sweep(1) }));
  expect(verdict.delegations[0]?.delegate).toBe(delegateDeployment(at(1), sweeper).address);

  const gas = (epoch: number): Purpose => ({ kind: 'gas', account: ACCOUNT, epoch });
  expect(fromTank(inEpoch(1), gas(1), { to: at(1), value: 5n })).toBe('signed');
  // Whoever has not noticed would give the present wallet's ether to whoever has the old key.
  expect(fromTank(inEpoch(1), gas(0), { to: at(0), value: 5n })).toBe('epoch');
  const toOld = (epoch: number): Purpose => ({ kind: 'gas', account: ACCOUNT, epoch, to: 'rotated' });
  expect(fromTank(inEpoch(1), toOld(0), { to: at(0), value: 5n })).toBe('signed');
  expect(fromTank(inEpoch(2), toOld(1), { to: at(1), value: 5n })).toBe('signed');
  expect(fromTank(inEpoch(1), toOld(0), { to: at(1), value: 5n })).toBe('purpose');
  expect(fromTank(inEpoch(1), toOld(1), { to: at(1), value: 5n })).toBe('epoch');
  expect(fromTank(inEpoch(1), gas(2), { to: at(2), value: 5n })).toBe('epoch');
  expect(fromTank(inEpoch(1), gas(0), { to: at(1), value: 5n })).toBe('epoch');
  const owner: Purpose = { kind: 'gas', account: ACCOUNT, to: 'owner' };
  expect(fromTank(inEpoch(0), owner, { to: accounts.owner(ACCOUNT).address, value: 5n })).toBe('signed');
  expect(fromTank(inEpoch(0), owner, { to: at(0), value: 5n })).toBe('purpose');
});

test('mandates and the account keep the id of the first wallet, whoever charges', () => {
  const to = policyText().networks.erc20.collector ?? '';
  const owner = accounts.owner(ACCOUNT).address;
  const payer = accounts.deposit(900, 1).address;
  const id = '01890000-0000-7000-8000-0000000000cc';
  const dataOf = (first: string) => {
    const terms = Array.from({ length: 6 }, () => new Uint8Array(32));
    const mandate = { payer, token: USDC, account: collectorAccount(owner, first), terms };
    const ids = { id: groupOf(id), subscription: groupOf(id) };
    return encodeCall({ kind: 'charge', mandate, amount: 5n, windowStart: 1n, windowEnd: 2n, ...ids });
  };
  const charge: Purpose = { kind: 'charge', id, asset: 'USDC', payer, amount: '5' };
  expect(outcome(inEpoch(1), 1, charge, { to, data: dataOf(at(0)) })).toBe('signed');
  expect(outcome(inEpoch(1), 1, charge, { to, data: dataOf(at(1)) })).toBe('purpose');
  expect(outcome(inEpoch(1), 0, charge, { to, data: dataOf(at(0)) })).toBe('epoch');
  const open = (hot: string) =>
    fromTank(
      inEpoch(1),
      { kind: 'account', account: ACCOUNT },
      { to, data: encodeCall({ kind: 'open', owner, operator: hot, home: hot }) },
    );
  expect([open(at(0)), open(at(1))]).toEqual(['signed', 'purpose']);
});

test('epochs of an account follow each other, whatever order they are told in', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 4 }), { maxLength: 12 }), (told) => {
      const { memory } = new Bench();
      let present = 0;
      for (const epoch of told) {
        const begin = () => memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch });
        if (epoch === present + 1) {
          begin();
          present = epoch;
        } else expect(begin).toThrow('follow each other');
        expect(memory.epochOf(ACCOUNT)).toBe(present);
      }
      expect(memory.epochOf(ACCOUNT + 1)).toBe(0);
    }),
  );
});

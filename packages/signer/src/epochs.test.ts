import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeCall } from './calldata.ts';
import { collectorAccount, delegateDeployment, groupOf, sweeperDeployment } from './contracts.ts';
import type { Purpose } from './protocol.ts';
import { policyText, USDC, USDT } from './test-policy.ts';
import {
  accounts,
  approved,
  BATCH_PAYOUT,
  Bench,
  type Bytes,
  itemAt,
  MERCHANTS,
  payBytes,
  payment,
  request,
  START,
  transferBytes,
} from './test-requests.ts';
import { signedByRotated, unpaidKey } from './unpaid-items.ts';

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

test('nothing is paid to a wallet of the account itself, of whichever epoch: the books would have it as paid', () => {
  for (const present of [0, 1, 2])
    for (let epoch = 0; epoch <= present; epoch++) {
      const toOwn = approved(payment({ items: [{ ...itemAt(0), to: at(epoch) }] }));
      expect(outcome(inEpoch(present), present, toOwn, payBytes(toOwn))).toBe('purpose');
      expect(outcome(inEpoch(present), present, toOwn, transferBytes(toOwn))).toBe('purpose');
    }
});

test('what a rotated wallet signed for an item counts for the wallet after it, as nothing that is an attack', () => {
  const bench = inEpoch(0);
  const sign = (epoch: number, bytes: Partial<Bytes>, ordinal = 0) =>
    bench.outcome(request({ account: ACCOUNT, epoch, ordinal, bytes, purpose: batch }));
  expect(sign(0, payBytes(batch))).toBe('signed');
  bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 1 });
  // The contract pays a place once for each sender, and this is another one.
  expect(sign(1, payBytes(batch))).toBe('limit');
  const single = { ...batch, places: [0] };
  const alone = request({
    account: ACCOUNT,
    epoch: 1,
    attempt: 'alone',
    bytes: transferBytes(single),
    purpose: single,
  });
  expect(bench.outcome(alone)).toBe('limit');
});

test('an item that the old wallet never pays is signed for the new one; one that it may pay is not', () => {
  const tried = (unpaid: [attempt: string, place: number][], places = [0, 1]) => {
    const bench = inEpoch(0);
    const old = { account: ACCOUNT, epoch: 0, purpose: batch };
    for (const attempt of ['one', 'two']) {
      const ordinal = attempt === 'one' ? 0 : 1;
      const asked = request({ ...old, ordinal, bytes: payBytes(batch), attempt });
      expect(
        bench.outcome({ ...asked, attempt: { ...asked.attempt, previous: ordinal === 0 ? null : 'one' } }),
      ).toBe('signed');
    }
    bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 1 });
    bench.unpaid = new Set(unpaid.map(([attempt, place]) => unpaidKey(attempt, place)));
    const purpose = { ...batch, places };
    return outcome(bench, 1, purpose, payBytes(purpose));
  };
  const all: [string, number][] = ['one', 'two'].flatMap((attempt) =>
    [0, 1].map((place): [string, number] => [attempt, place]),
  );
  expect(tried(all)).toBe('signed');
  // Each signature of each item counts for itself.
  for (const missing of all) {
    const others = all.filter((one) => one !== missing);
    expect(tried(others)).toBe('limit');
    expect(tried(others, [1 - missing[1]])).toBe('signed');
    expect(tried(others, [missing[1]])).toBe('limit');
  }
});

test('a signature of a rotated wallet is looked for where it went through the contract', () => {
  const bench = inEpoch(0);
  const single = { ...batch, places: [1] };
  const ask = (ordinal: number, purpose: typeof batch, bytes: Partial<Bytes>) =>
    bench.outcome(request({ account: ACCOUNT, epoch: 0, ordinal, bytes, purpose }));
  expect(ask(0, { ...batch, places: [0] }, payBytes({ ...batch, places: [0] }))).toBe('signed');
  expect(ask(1, single, transferBytes(single))).toBe('signed');
  bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 1 });
  const asked = request({ account: ACCOUNT, epoch: 1, bytes: payBytes(batch), purpose: batch });
  expect(signedByRotated(asked, bench.memory, at(0))).toEqual([]);
  expect(signedByRotated(asked, bench.memory, at(1))).toEqual([
    { attempt: `attempt ${ACCOUNT}.0 0`, place: 0, sender: at(0), sequence: 0n, contract: BATCH_PAYOUT },
  ]);
});

test('a deposit address that hands its coins to a rotated wallet delegates anew, or is not swept', () => {
  const { address: sweeper } = sweeperDeployment(accounts.hot(0).address);
  const bench = inEpoch(0);
  let ordinal = 0;
  const swept = (index: number, epoch: number, isDelegating: boolean) => {
    const sweeps = [{ from: accounts.deposit(ACCOUNT, index).address, token: USDT, amount: 5n }];
    const purpose: Purpose = {
      kind: 'sweep',
      merchant: MERCHANTS[0],
      account: ACCOUNT,
      epoch,
      deposits: [{ index, asset: 'USDT', amount: '5' }],
      delegates: isDelegating ? [{ index, nonce: '0' }] : [],
    };
    const type = isDelegating ? (4 as const) : (2 as const);
    const bytes = { to: sweeper, type, data: encodeCall({ kind: 'sweep', sweeps }) };
    const said = bench.outcome(request({ account: 0, ordinal, bytes, purpose }));
    if (said === 'signed') ordinal += 1;
    return said;
  };
  expect([swept(7, 0, true), swept(7, 0, false)]).toEqual(['signed', 'signed']);
  bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 1 });
  expect(swept(7, 1, false)).toBe('epoch');
  expect([swept(7, 1, true), swept(7, 1, false)]).toEqual(['signed', 'signed']);
  // What this signer has not let delegate runs nothing, or a journal that was lost has.
  expect(swept(8, 1, false)).toBe('signed');
  bench.memory.apply({ type: 'epoch', at: START, account: ACCOUNT, epoch: 2 });
  expect([swept(7, 2, false), swept(7, 1, false), swept(7, 1, true), swept(7, 2, true)]).toEqual([
    'epoch',
    'epoch',
    'epoch',
    'signed',
  ]);
});

test('a caller that has missed two rotations gets nothing signed, and is no attack', () => {
  const bench = () => inEpoch(2);
  const { address: sweeper } = sweeperDeployment(accounts.hot(0).address);
  const sweeps = [{ from: accounts.deposit(ACCOUNT, 7).address, token: USDT, amount: 5n }];
  const sweep: Purpose = {
    kind: 'sweep',
    merchant: MERCHANTS[0],
    account: ACCOUNT,
    deposits: [{ index: 7, asset: 'USDT', amount: '5' }],
    delegates: [],
  };
  const asked = [
    outcome(bench(), 0, batch, payBytes(batch)),
    outcome(bench(), 0, move('USDT', 5n), moveBytes(at(1), 5n)),
    outcome(bench(), 0, move(null, 5n), { to: at(1), value: 5n }),
    fromTank(bench(), { kind: 'gas', account: ACCOUNT }, { to: at(0), value: 5n }),
    fromTank(bench(), sweep, { to: sweeper, data: encodeCall({ kind: 'sweep', sweeps }) }),
  ];
  expect(asked).toEqual(asked.map(() => 'epoch'));
  expect(() =>
    bench().ask(request({ account: ACCOUNT, epoch: 0, bytes: payBytes(batch), purpose: batch })),
  ).toThrow('The caller is 2 epochs behind: its database is an old copy');
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

test('a cold owner gets no ether, its account is opened for it alone, and mandates are of its account', () => {
  const cold = accounts.deposit(901, 1).address;
  const bench = () =>
    new Bench(({ networks: { erc20 } }) => {
      erc20.cold_owners = { [ACCOUNT]: cold };
    });
  const gas: Purpose = { kind: 'gas', account: ACCOUNT, to: 'owner' };
  for (const to of [cold, accounts.owner(ACCOUNT).address])
    expect(fromTank(bench(), gas, { to, value: 5n })).toBe('policy');
  const to = policyText().networks.erc20.collector ?? '';
  const open = (owner: string, operator = at(0), home = at(0)) =>
    fromTank(
      bench(),
      { kind: 'account', account: ACCOUNT },
      { to, data: encodeCall({ kind: 'open', owner, operator, home }) },
    );
  expect(open(cold)).toBe('signed');
  expect([
    open(accounts.owner(ACCOUNT).address),
    open(EVE),
    open(cold, cold),
    open(cold, at(0), cold),
  ]).toEqual(Array(4).fill('purpose'));
  const payer = accounts.deposit(900, 1).address;
  const id = '01890000-0000-7000-8000-0000000000cc';
  const charge = (owner: string) => {
    const terms = Array.from({ length: 6 }, () => new Uint8Array(32));
    const mandate = { payer, token: USDC, account: collectorAccount(owner, at(0)), terms };
    const ids = { id: groupOf(id), subscription: groupOf(id) };
    const data = encodeCall({ kind: 'charge', mandate, amount: 5n, windowStart: 1n, windowEnd: 2n, ...ids });
    return outcome(bench(), 0, { kind: 'charge', id, asset: 'USDC', payer, amount: '5' }, { to, data });
  };
  expect([charge(cold), charge(accounts.owner(ACCOUNT).address), charge(EVE)]).toEqual([
    'signed',
    'purpose',
    'purpose',
  ]);
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

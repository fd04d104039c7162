import fc from 'fast-check';
import { TronWeb } from 'tronweb';
import { expect, test } from 'vitest';
import { type Call, encodeCall } from '../calldata.ts';
import { collectorAccount, groupOf } from '../contracts.ts';
import { Refused } from '../refusal.ts';
import type { Payment } from '../statement.ts';
import { damaged, damageOf, outcome } from '../test-damage.ts';
import { seedOf } from '../words.ts';
import { TronAccounts } from './accounts.ts';
import { accountOfTron, tronOfAccount } from './address.ts';
import { matchTronPurpose, type TronFacts, type TronMovement, type TronPurpose } from './purposes.ts';
import { decodeTronTransaction, encodeTronTransaction, type TronContract } from './transaction.ts';

const WORDS = 'test test test test test test test test test test test junk';
const accounts = new TronAccounts(seedOf(WORDS));
const book = {
  hot: (account: number) => accounts.hot(account).address,
  deposit: (account: number, index: number) => accounts.deposit(account, index).address,
  owner: (account: number) => accounts.owner(account).address,
  collectorAccount: (account: number) =>
    collectorAccount(
      accountOfTron(accounts.owner(account).address),
      accountOfTron(accounts.hot(account).address),
    ),
};
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const RETIRED_USDC = 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8';
const COLLECTOR = book.deposit(700, 0);
const EVE = book.deposit(666, 0);
const PAYER = book.deposit(800, 0);
const ALICE = book.deposit(900, 0);
const NOW = 1_790_000_000_000;
const ID = '01890000-0000-7000-8000-0000000000aa';
const BLOCK = {
  refBlockBytes: Uint8Array.of(1, 2),
  refBlockHash: new Uint8Array(8).fill(3),
  timestamp: BigInt(NOW),
};
const RULES = {
  tokens: new Map([['USDT', USDT]] as const),
  collector: COLLECTOR,
  feeLimit: 100_000_000n,
  genesis: '00'.repeat(32),
  nativeFeePerDay: 1n,
  nativeFeePerMerchantDay: 1n,
  gasTopUp: 1n,
  gasTopUpsPerDay: 1n,
  accounts: new Map(),
};

const payment: Payment = {
  kind: 'payout',
  merchant: '01890000-0000-7000-8000-000000000001',
  id: ID,
  asset: 'USDT',
  items: [
    { place: 0, to: ALICE, amount: '1000000', memo: null },
    { place: 1, to: PAYER, amount: '2000000', memo: null },
  ],
  places: [0],
  approvals: [],
};

interface Changes {
  account?: number;
  contract?: TronContract;
  feeLimit?: bigint;
  validMs?: number;
  rules?: Partial<TronFacts['rules']>;
}

const call = (owner: string, contract: string, data: Call): TronContract => ({
  kind: 'trigger',
  owner,
  contract,
  data: encodeCall(data),
});
const transfer = (owner: string, to: string, amount: bigint, token = USDT) =>
  call(owner, token, { kind: 'transfer', to: accountOfTron(to), amount });

/** Through bytes, as a request comes. */
function matched(purpose: TronPurpose, contract: TronContract, changes: Changes = {}): TronMovement {
  const bytes = encodeTronTransaction({
    ...BLOCK,
    expiration: BigInt(NOW + (changes.validMs ?? 60_000)),
    contract: changes.contract ?? contract,
    feeLimit: changes.feeLimit ?? (contract.kind === 'trigger' ? 30_000_000n : 0n),
  });
  return matchTronPurpose({
    account: changes.account ?? 1,
    purpose,
    tx: decodeTronTransaction(bytes),
    rules: { ...RULES, ...changes.rules },
    book,
    now: NOW,
  });
}

/** Without what it costs, which a test of its own compares. */
function match(purpose: TronPurpose, contract: TronContract, changes: Changes = {}) {
  const { cost, ...movement } = matched(purpose, contract, changes);
  expect(cost).toBeGreaterThan(200_000n);
  return movement;
}

function refusal(purpose: TronPurpose, contract: TronContract, changes: Changes = {}): string {
  try {
    match(purpose, contract, changes);
    return 'signed';
  } catch (error) {
    if (error instanceof Refused) return `${error.code}: ${error.message}`;
    throw error;
  }
}

test('keys are those of m/44’/195’, as wallets of Tron derive them', () => {
  for (const [own, path] of [
    [accounts.hot(0), "m/44'/195'/0'/1/0"],
    [accounts.hot(7), "m/44'/195'/7'/1/0"],
    [accounts.owner(7), "m/44'/195'/7'/2/0"],
    [accounts.deposit(7, 5), "m/44'/195'/7'/0/5"],
  ] as const) {
    const their = TronWeb.fromMnemonic(WORDS, path);
    expect(own.address).toBe(their.address);
    expect(`0x${Buffer.from(own.privateKey).toString('hex')}`).toBe(their.privateKey);
  }
});

test('a payment, a sweep, gas, energy, an account, an activation and a charge are what they say', () => {
  const [hot, tank, deposit] = [book.hot(1), book.hot(0), book.deposit(1, 4)];
  expect(match(payment, transfer(hot, ALICE, 1_000_000n))).toEqual({
    sender: hot,
    payment: { purpose: payment, items: [payment.items[0]] },
  });
  const sweep = { kind: 'sweep', account: 1, index: 4, asset: 'USDT', amount: '5' } as const;
  expect(match(sweep, transfer(deposit, hot, 5n))).toEqual({ sender: deposit });
  const gas: TronContract = { kind: 'transfer', owner: tank, to: deposit, amount: 7n };
  expect(match({ kind: 'gas', account: 1, index: 4 }, gas, { account: 0 })).toEqual({
    sender: tank,
    topUp: 7n,
  });
  const lent = { kind: 'energy', account: 1, index: 4, staked: '9', isTakenBack: false } as const;
  const energy = { owner: tank, receiver: deposit, balance: 9n, resource: 'energy' } as const;
  expect(match(lent, { kind: 'delegate', ...energy }, { account: 0 })).toEqual({ sender: tank });
  expect(match({ ...lent, isTakenBack: true }, { kind: 'undelegate', ...energy }, { account: 0 })).toEqual({
    sender: tank,
  });
  const opened = call(tank, COLLECTOR, openCall());
  expect(match({ kind: 'account', account: 1 }, opened, { account: 0 })).toEqual({ sender: tank });
  const activation = call(hot, COLLECTOR, activateCall());
  expect(match({ kind: 'activate', asset: 'USDT', payer: PAYER }, activation)).toEqual({ sender: hot });
  expect(match(charge, call(hot, COLLECTOR, chargeCall()))).toEqual({ sender: hot });
});

const charge = { kind: 'charge', id: ID, asset: 'USDT', payer: PAYER, amount: '3' } as const;
const openCall = (): Extract<Call, { kind: 'open' }> => ({
  kind: 'open',
  owner: accountOfTron(book.owner(1)),
  operator: accountOfTron(book.hot(1)),
  home: accountOfTron(book.hot(1)),
});
const mandate = () => ({
  payer: accountOfTron(PAYER),
  token: accountOfTron(USDT),
  account: book.collectorAccount(1),
  terms: Array.from({ length: 6 }, () => new Uint8Array(32)),
});
const activateCall = (): Extract<Call, { kind: 'activate' }> => ({
  kind: 'activate',
  mandate: mandate(),
  signature: new Uint8Array(65),
  permit: [],
});
const chargeCall = (): Extract<Call, { kind: 'charge' }> => ({
  kind: 'charge',
  mandate: mandate(),
  id: groupOf(ID),
  subscription: new Uint8Array(32),
  amount: 3n,
  windowStart: 1n,
  windowEnd: 2n,
});

test('what it may burn is its fee limit, its bandwidth and the activation of an account', () => {
  const [hot, tank] = [book.hot(1), book.hot(0)];
  const lent = { kind: 'energy', account: 1, index: 4, staked: '9', isTakenBack: false } as const;
  const costs: [purpose: TronPurpose, contract: TronContract, account: number][] = [
    [payment, transfer(hot, ALICE, 1_000_000n), 1],
    [{ kind: 'gas', account: 1 }, { kind: 'transfer', owner: tank, to: hot, amount: 7n }, 0],
    [
      lent,
      { kind: 'delegate', owner: tank, receiver: book.deposit(1, 4), balance: 9n, resource: 'energy' },
      0,
    ],
  ];
  // Bytes of the signed transaction, and 64 of its result, at 1,000 sun.
  expect(costs.map(([purpose, contract, account]) => matched(purpose, contract, { account }).cost)).toEqual([
    30_000_000n + 345_000n,
    1_100_000n + 265_000n,
    275_000n,
  ]);
});

test('payments that differ from what was approved are refused', () => {
  const hot = book.hot(1);
  const sound = transfer(hot, ALICE, 1_000_000n);
  const zero = tronOfAccount(`0x${'0'.repeat(40)}`);
  const paying = (to: string): Payment => ({
    ...payment,
    items: [{ place: 0, to, amount: '1000000', memo: null }],
  });
  const cases: [purpose: TronPurpose, contract: TronContract, line: string, changes?: Changes][] = [
    [payment, transfer(hot, EVE, 1_000_000n), `place 0 goes to ${EVE}, not to ${ALICE}`],
    [payment, transfer(hot, ALICE, 1_000_001n), 'place 0 is of 1000001 units, not of 1000000'],
    [payment, transfer(hot, ALICE, 1_000_000n, EVE), 'place 0 is in another token than USDT'],
    [payment, transfer(book.hot(2), ALICE, 1_000_000n), `it is sent by ${book.hot(2)}`],
    [
      payment,
      call(hot, USDT, { kind: 'approve', spender: accountOfTron(EVE), amount: 1n }),
      'is no transfer',
    ],
    [payment, { kind: 'transfer', owner: hot, to: ALICE, amount: 1_000_000n }, 'it calls no contract'],
    [
      payment,
      { kind: 'trigger', owner: hot, contract: USDT, data: new Uint8Array(4) },
      'calls nothing that the signer',
    ],
    [{ ...payment, places: [0, 1] }, sound, 'a transfer pays one item'],
    [{ ...payment, places: [2] }, sound, 'there is no item 2'],
    [payment, sound, "the installation's wallet pays nobody", { account: 0 }],
    [{ ...payment, asset: 'USDC' }, sound, 'policy: the policy names no address for USDC'],
    [paying(USDT), transfer(hot, USDT, 1_000_000n), 'where coins would be lost'],
    [paying(COLLECTOR), transfer(hot, COLLECTOR, 1_000_000n), 'where coins would be lost'],
    ...[zero, hot, book.hot(0), 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', RETIRED_USDC].map(
      (to): [TronPurpose, TronContract, string] => [
        paying(to),
        transfer(hot, to, 1_000_000n),
        'where coins would be lost',
      ],
    ),
    [paying(accountOfTron(ALICE)), sound, 'is none of this network'],
    [paying('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'), sound, 'is none of this network'],
    [payment, sound, 'fee: fee_limit is above 100000000', { feeLimit: 100_000_001n }],
    [payment, sound, 'it is valid for longer than 600 seconds', { validMs: 600_001 }],
  ];
  for (const [purpose, contract, line, changes] of cases)
    expect(refusal(purpose, contract, changes), line).toContain(line);
});

test('other movements that differ from their purpose are refused', () => {
  const [hot, tank, deposit] = [book.hot(1), book.hot(0), book.deposit(1, 4)];
  const sweep = { kind: 'sweep', account: 1, index: 4, asset: 'USDT', amount: '5' } as const;
  const gas = { kind: 'gas', account: 1, index: 4 } as const;
  const lent = { kind: 'energy', account: 1, index: 4, staked: '9', isTakenBack: false } as const;
  const energy = {
    kind: 'delegate',
    owner: tank,
    receiver: deposit,
    balance: 9n,
    resource: 'energy',
  } as const;
  const tanks = { account: 0 };
  const mandates = { kind: 'activate', asset: 'USDT', payer: PAYER } as const;
  const words = Array.from({ length: 5 }, () => new Uint8Array(32));
  const cases: [purpose: TronPurpose, contract: TronContract, line: string, changes?: Changes][] = [
    [sweep, transfer(deposit, EVE, 5n), `the sweep goes to ${EVE}`],
    [sweep, transfer(book.deposit(1, 5), hot, 5n), 'it is sent by'],
    [sweep, transfer(deposit, hot, 5n), 'it is for account 1 to send', { account: 2 }],
    [gas, { kind: 'transfer', owner: tank, to: EVE, amount: 7n }, `it goes to ${EVE}`, tanks],
    [gas, { kind: 'transfer', owner: hot, to: deposit, amount: 7n }, 'it is sent by', tanks],
    [gas, { kind: 'transfer', owner: tank, to: deposit, amount: 7n }, 'it is for account 0 to send'],
    [
      { kind: 'gas', account: 0 },
      { kind: 'transfer', owner: tank, to: tank, amount: 7n },
      'gives itself',
      tanks,
    ],
    [
      gas,
      { kind: 'transfer', owner: tank, to: deposit, amount: 7n },
      'has a fee limit',
      { ...tanks, feeLimit: 1n },
    ],
    [lent, { ...energy, receiver: EVE }, `it is about the energy of ${EVE}`, tanks],
    [lent, { ...energy, balance: 10n }, 'it is about 10 sun', tanks],
    [lent, { ...energy, resource: 'bandwidth' }, 'it does not delegate energy', tanks],
    [lent, { ...energy, kind: 'undelegate' }, 'it does not delegate energy', tanks],
    [
      { kind: 'account', account: 1 },
      call(tank, COLLECTOR, { ...openCall(), home: accountOfTron(EVE) }),
      'its operator and home are not',
      tanks,
    ],
    [
      { kind: 'account', account: 1 },
      call(tank, COLLECTOR, { ...openCall(), owner: accountOfTron(EVE) }),
      'its owner is not that of account 1',
      tanks,
    ],
    [charge, call(hot, EVE, chargeCall()), 'another contract than collector'],
    [
      charge,
      call(hot, COLLECTOR, chargeCall()),
      'policy: the policy names no collector',
      { rules: { collector: null } },
    ],
    [charge, call(hot, COLLECTOR, { ...chargeCall(), amount: 4n }), 'it charges 4 units'],
    [charge, call(hot, COLLECTOR, { ...chargeCall(), id: new Uint8Array(32) }), 'by another id'],
    [charge, call(hot, COLLECTOR, activateCall()), 'it is no charge'],
    [{ ...charge, payer: EVE }, call(hot, COLLECTOR, chargeCall()), `its mandate is of ${PAYER}`],
    [charge, call(book.hot(2), COLLECTOR, chargeCall()), 'its mandate is not for account 2', { account: 2 }],
    [mandates, call(hot, COLLECTOR, { ...activateCall(), permit: words }), 'it carries a permit'],
  ];
  for (const [purpose, contract, line, changes] of cases)
    expect(refusal(purpose, contract, changes), line).toContain(line);
});

test('of a damaged payment nothing passes but another block, time or fee limit', () => {
  const contract = transfer(book.hot(1), ALICE, 1_000_000n);
  const sound = encodeTronTransaction({
    ...BLOCK,
    expiration: BigInt(NOW + 60_000),
    contract,
    feeLimit: 30_000_000n,
  });
  let passed = 0;
  fc.assert(
    fc.property(damageOf(0, 1, 2, 0x0a, 0x12, 0x1a, 0x22, 0x41, 0x5a, 0x7f, 0x80, 0xff), (list) => {
      const tx = outcome(() => decodeTronTransaction(damaged(sound, list)));
      if (tx === 'refused') return;
      try {
        matchTronPurpose({ account: 1, purpose: payment, tx, rules: RULES, book, now: NOW });
      } catch (error) {
        if (error instanceof Refused) return;
        throw error;
      }
      passed += 1;
      expect(tx.contract).toEqual(contract);
    }),
    { numRuns: 10_000 },
  );
  expect(passed).toBeGreaterThan(0);
});

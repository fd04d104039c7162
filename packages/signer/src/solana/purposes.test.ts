import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refused } from '../refusal.ts';
import type { Payment } from '../statement.ts';
import { damaged, damageOf, outcome } from '../test-damage.ts';
import { seedOf } from '../words.ts';
import { SolanaAccounts } from './accounts.ts';
import { solanaAddressOf, tokenAccountOf } from './address.ts';
import type { SolanaInstruction } from './instruction.ts';
import { deriveEd25519 } from './keys.ts';
import { decodeSolanaMessage, encodeSolanaMessage, type SolanaMessage } from './message.ts';
import { matchSolanaPurpose, memoOf, type SolanaMovement, type SolanaPurpose } from './purposes.ts';
import { mandateOf } from './test-mandate.ts';

const ABANDON = `${'abandon '.repeat(11)}about`;
const accounts = new SolanaAccounts(seedOf(ABANDON));
const book = {
  hot: (account: number) => accounts.hot(account).address,
  deposit: (account: number, index: number) => accounts.deposit(account, index).address,
  delegate: () => accounts.delegate().address,
};
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const RULES = {
  tokens: new Map([
    ['USDT', USDT],
    ['USDC', USDC],
  ] as const),
  computeUnits: 400_000,
  priorityFee: 100_000n,
  genesis: USDC,
  nativeFeePerDay: 1n,
  nativeFeePerMerchantDay: 1n,
  allowProgramOwned: false,
  node: null,
  charges: { perTransfer: 1n, perDay: 1n, perMerchantDay: 1n, resendPerDay: 0n },
  accounts: new Map(),
};
const ID = '01890000-0000-7000-8000-0000000000aa';
const FEE_PAYER = book.hot(0);
const HOT = book.hot(1);
const EVE = book.deposit(666, 0);
const ALICE = book.deposit(900, 0);
const BOB = book.deposit(900, 1);

const payment: Payment = {
  kind: 'payout',
  merchant: '01890000-0000-7000-8000-000000000001',
  id: ID,
  asset: 'USDT',
  items: [
    { place: 0, to: ALICE, amount: '1000000', memo: 'invoice 7' },
    { place: 1, to: BOB, amount: '2000000', memo: null },
  ],
  places: [0, 1],
  approvals: [],
};

const BUDGET: SolanaInstruction[] = [
  { kind: 'computeLimit', units: 200_000 },
  { kind: 'computePrice', microLamports: 100_000n },
];

const transfer = (
  {
    from,
    to,
    authority = from,
    mint = USDT,
  }: { from: string; to: string; authority?: string; mint?: string },
  amount: bigint,
) =>
  ({
    kind: 'transfer',
    source: tokenAccountOf(from, mint),
    mint,
    destination: tokenAccountOf(to, mint),
    authority,
    amount,
    decimals: 6,
  }) satisfies SolanaInstruction;
const opening = (owner: string, payer = FEE_PAYER, mint = USDT) =>
  ({
    kind: 'createTokenAccount',
    payer,
    account: tokenAccountOf(owner, mint),
    owner,
    mint,
  }) satisfies SolanaInstruction;
const closing = (owner: string, destination = FEE_PAYER) =>
  ({ kind: 'close', account: tokenAccountOf(owner, USDT), destination, owner }) satisfies SolanaInstruction;
const memo = (text: string) => ({ kind: 'memo', text }) satisfies SolanaInstruction;

interface Sent {
  account?: number;
  feePayer?: string;
  budget?: SolanaInstruction[];
}

/** Through bytes, as a request comes. */
function match(purpose: SolanaPurpose, steps: SolanaInstruction[], sent: Sent = {}): SolanaMovement {
  const bytes = encodeSolanaMessage({
    version: 0,
    feePayer: sent.feePayer ?? FEE_PAYER,
    blockhash: USDC,
    instructions: [...(sent.budget ?? BUDGET), ...steps],
  });
  const message = decodeSolanaMessage(bytes);
  return matchSolanaPurpose({ account: sent.account ?? 1, purpose, message, rules: RULES, book });
}

function refusal(purpose: SolanaPurpose, steps: SolanaInstruction[], sent: Sent = {}): string {
  try {
    match(purpose, steps, sent);
    return 'signed';
  } catch (error) {
    if (error instanceof Refused) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const toAlice = transfer({ from: HOT, to: ALICE }, 1_000_000n);
const toBob = transfer({ from: HOT, to: BOB }, 2_000_000n);
const named = memo(memoOf(ID));
const invoice = memo('invoice 7');
/** The transfer with the memo that people approved. */
const both = [invoice, toAlice, toBob];
const batch = [named, opening(ALICE), invoice, toAlice, opening(BOB), toBob];
const mandate = mandateOf(accounts.deposit(900, 0), {
  genesis: RULES.genesis,
  asset: 'USDT',
  mint: USDT,
  recipient: HOT,
  start: 1_790_000_000,
});
const charge = { kind: 'charge', id: ID, asset: 'USDT', payer: ALICE, amount: '3', mandate } as const;
const { mandate: _, ...unsigned } = charge;
const pulled = transfer({ from: ALICE, to: HOT, authority: book.delegate() }, 3n);
const sweep = {
  kind: 'sweep',
  account: 1,
  deposits: [
    { index: 4, asset: 'USDT', amount: '5' },
    { index: 5, asset: 'USDT', amount: '6' },
  ],
} as const;
const [FOURTH, FIFTH] = [book.deposit(1, 4), book.deposit(1, 5)];
const swept = [
  opening(HOT),
  transfer({ from: FOURTH, to: HOT }, 5n),
  closing(FOURTH),
  transfer({ from: FIFTH, to: HOT }, 6n),
  closing(FIFTH),
];

test('keys lie below m/44’/501’, and never change: coins lie at their addresses', () => {
  expect([book.hot(0), book.hot(1), book.deposit(1, 0), book.delegate()]).toEqual([
    '9pedgei8s5tZ7S4FpLjg2WXAs5cG9SFvfgPig5RhcGdU',
    '63uJjWriT8PMKeUXJeWuRJ4YgEVH5L5ejXfQ3LkasWtw',
    'H6r4dUP9Jj3CLx9NyarxjDiE1HGeWMHDv2MUTAq9nYzt',
    '69ZPEAwKf5wsHdQwQh5PzunH7bp36qDv2qG3ycXG1khw',
  ]);
  const { privateKey } = deriveEd25519(seedOf(ABANDON), [44, 501, 1, 0, 0]);
  expect(accounts.deposit(1, 0).privateKey).toEqual(privateKey);
  // What Phantom and Solflare show for these words.
  const wallet = deriveEd25519(seedOf(ABANDON), [44, 501, 0, 0]);
  expect(solanaAddressOf(ed25519.getPublicKey(wallet.privateKey))).toBe(
    'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  );
  expect(() => accounts.deposit(1, 2 ** 31)).toThrow(RangeError);
});

test('a batch, a sweep and a charge are what they say, and cost what they may take', () => {
  // Two signatures, 200,000 units at 0.1 lamports, two accounts.
  expect(match(payment, batch)).toEqual({
    payment: { purpose: payment, items: payment.items },
    cost: 10_000n + 20_000n + 2n * 2_039_280n,
  });
  expect(match({ ...payment, places: [1] }, [memo(memoOf(ID, 1)), toBob]).cost).toBe(30_000n);
  expect(match(payment, [named, ...both]).cost).toBe(30_000n);
  expect(match(sweep, swept, { account: 0 })).toEqual({ cost: 15_000n + 20_000n + 2_039_280n });
  expect(match(charge, [memo(memoOf(ID)), opening(HOT), pulled])).toEqual({
    mandateId: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/),
    cost: 10_000n + 20_000n + 2_039_280n,
  });
});

test('batches that differ from what was approved are refused', () => {
  const other = { ...toAlice, destination: tokenAccountOf(EVE, USDT) };
  const paying = (to: string): Payment => ({
    ...payment,
    places: [0],
    items: [{ place: 0, to, amount: '1000000', memo: null }],
  });
  const limit: SolanaInstruction = { kind: 'computeLimit', units: 400_001 };
  const price: SolanaInstruction = { kind: 'computePrice', microLamports: 500_001n };
  const [units, cheap] = BUDGET;
  if (units === undefined || cheap === undefined) throw new Error('a limit and a price');
  const approval: SolanaInstruction = { ...toAlice, kind: 'approve', delegate: EVE, owner: HOT };
  const cases: [purpose: SolanaPurpose, steps: SolanaInstruction[], line: string, sent?: Sent][] = [
    [payment, [other, toBob], `the destination of place 0 is ${other.destination}`],
    [payment, [{ ...toAlice, destination: ALICE }, toBob], `the destination of place 0 is ${ALICE}`],
    [payment, [{ ...toAlice, amount: 1_000_001n }, toBob], 'place 0 is of 1000001 units, not of 1000000'],
    [payment, [{ ...toAlice, decimals: 5 }, toBob], 'place 0 is in another token'],
    [
      payment,
      [transfer({ from: HOT, to: ALICE, mint: USDC }, 1_000_000n), toBob],
      'place 0 is in another token',
    ],
    [payment, [toBob, toAlice], 'the destination of place 0'],
    [payment, [invoice, toAlice], 'place 1 is not in it'],
    [payment, [...both, toBob], 'it moves 2000000 units more'],
    [payment, [transfer({ from: book.hot(2), to: ALICE }, 1_000_000n), toBob], 'the source of place 0'],
    [payment, [{ ...toAlice, authority: book.delegate() }, toBob], 'the authority of place 0'],
    [payment, [...both, approval], 'nothing here is to approve'],
    [payment, [...both, { kind: 'revoke', source: toAlice.source, owner: HOT }], 'nothing here is to revoke'],
    [payment, [...both, closing(HOT)], 'which is not swept'],
    [payment, [memo('x'), ...both], 'it carries the memo "x"'],
    [payment, [named, toAlice, toBob], 'place 0 lacks its memo'],
    [payment, [named, invoice, ...both], 'behind the memo "invoice 7" is no transfer'],
    [payment, [named, invoice, opening(ALICE), toAlice, toBob], 'is no transfer'],
    [payment, [invoice, named, toAlice, toBob], 'is no transfer'],
    [payment, [named, toAlice, invoice, toBob], 'place 0 lacks its memo'],
    [payment, [named, ...both, invoice], 'it carries the memo'],
    [payment, [named, invoice, toAlice, invoice, toBob], 'it carries the memo'],
    [payment, both, `it lacks the memo ${memoOf(ID)}`],
    [payment, [named, named, ...both], 'it carries the memo'],
    [payment, [memo(memoOf(ID, 1)), ...both], 'it carries the memo'],
    [{ ...payment, places: [1] }, [named, toBob], 'it carries the memo'],
    [payment, [memo(ID), ...both], 'it carries the memo'],
    [payment, [opening(EVE), ...both], `of ${EVE}, which nothing in it needs`],
    [payment, [opening(ALICE), opening(ALICE), ...both], 'which nothing in it needs'],
    [payment, [opening(ALICE, HOT), ...both], `is paid by ${HOT}`],
    [payment, [{ ...opening(ALICE), owner: EVE }, ...both], 'which nothing in it needs'],
    [payment, batch, `its fee is paid by ${HOT}`, { feePayer: HOT }],
    [payment, batch, 'the fee payer pays nobody', { account: 0 }],
    [payment, batch, 'the source of place 0', { account: 2 }],
    [payment, batch, 'fee: compute_units is above 400000', { budget: [limit, cheap] }],
    [payment, batch, 'fee: priority_fee is above 100000', { budget: [units, price] }],
    [payment, batch, 'it does not begin with the limit', { budget: [] }],
    [payment, batch, 'it does not begin with the limit', { budget: [units] }],
    [payment, batch, 'it sets its compute units twice', { budget: [units, cheap, cheap] }],
    [
      { ...payment, places: Array.from({ length: 73 }, (_, i) => i) },
      batch,
      '73 transfers have no room in it',
    ],
    ...[USDT, '1'.repeat(32), FEE_PAYER, HOT, book.delegate(), tokenAccountOf(ALICE, USDT)].map(
      (to): [SolanaPurpose, SolanaInstruction[], string] => [
        paying(to),
        [transfer({ from: HOT, to }, 1_000_000n)],
        'where coins would be lost',
      ],
    ),
    [paying('0x5FbDB2315678afecb367f032d93F642f64180aa3'), [toAlice], 'is none of this network'],
    [paying('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'), [toAlice], 'is none of this network'],
  ];
  for (const [purpose, steps, line, sent] of cases)
    expect(refusal(purpose, steps, sent), line).toContain(line);
});

test('sweeps and charges that differ from their purpose are refused', () => {
  const [create, first, close, second, last] = swept;
  if (!create || !first || !close || !second || !last) throw new Error('five steps');
  const asPayer = { account: 0 };
  const cases: [purpose: SolanaPurpose, steps: SolanaInstruction[], line: string, sent?: Sent][] = [
    [
      sweep,
      [transfer({ from: FOURTH, to: EVE }, 5n), second],
      'the destination of the sweep of address 4',
      asPayer,
    ],
    [sweep, [closing(FOURTH), first, second], 'before it is swept', asPayer],
    [sweep, [first, closing(FOURTH, EVE), second], `goes to ${EVE}`, asPayer],
    [sweep, [first, close, close, second], 'which is not swept', asPayer],
    [sweep, [first, second, closing(book.deposit(1, 6))], 'which is not swept', asPayer],
    [sweep, [memo(memoOf(ID)), first, second], 'it carries the memo', asPayer],
    [sweep, swept, 'it is for the fee payer to send'],
    [{ ...sweep, account: 2 }, [first, second], 'the source of the sweep of address 4', asPayer],
    [
      charge,
      [transfer({ from: ALICE, to: EVE, authority: book.delegate() }, 3n)],
      'the destination of the charge',
    ],
    [charge, [{ ...pulled, amount: 4n }], 'the charge is of 4 units, not of 3'],
    [charge, [{ ...pulled, authority: HOT }], 'the authority of the charge'],
    [{ ...charge, payer: BOB }, [pulled], `its mandate is not signed by ${BOB}`],
    [{ ...charge, asset: 'USDC' }, [pulled], 'its mandate is not signed by'],
    [
      { ...charge, mandate: { ...mandate, terms: { ...mandate.terms, cap: '2' } } },
      [pulled],
      'is not signed',
    ],
    [{ ...charge, mandate: { ...mandate, signature: '0x00' } }, [pulled], 'its mandate is not signed by'],
    [unsigned, [pulled], 'it lacks the mandate'],
    [charge, [transfer({ from: BOB, to: HOT, authority: book.delegate() }, 3n)], 'the source of the charge'],
    [charge, [memo('another id'), pulled], 'it carries the memo'],
    [charge, [pulled], 'it lacks the memo'],
    [{ ...charge, amount: '0' }, [named, { ...pulled, amount: 0n }], 'it charges nothing'],
    [charge, [pulled, pulled], 'it moves 3 units more'],
    [charge, [pulled], 'the fee payer charges nobody', { account: 0 }],
    [charge, [pulled], `for charges to ${book.hot(2)}`, { account: 2 }],
    [{ ...charge, payer: EVE.slice(2) }, [pulled], 'is no address of Solana'],
  ];
  for (const [purpose, steps, line, sent] of cases)
    expect(refusal(purpose, steps, sent), line).toContain(line);
});

test('of a damaged batch nothing passes but another block, price or limit', () => {
  const sound = encodeSolanaMessage({
    version: 0,
    feePayer: FEE_PAYER,
    blockhash: USDC,
    instructions: [...BUDGET, ...batch],
  });
  const same = ({ instructions: [, , ...steps], feePayer }: SolanaMessage) => ({ steps, feePayer });
  let passed = 0;
  fc.assert(
    fc.property(damageOf(0, 1, 2, 3, 4, 5, 9, 12, 13, 0x40, 0x80, 0xff), (list) => {
      const message = outcome(() => decodeSolanaMessage(damaged(sound, list)));
      if (message === 'refused') return;
      try {
        matchSolanaPurpose({ account: 1, purpose: payment, message, rules: RULES, book });
      } catch (error) {
        if (error instanceof Refused) return;
        throw error;
      }
      passed += 1;
      expect(same(message)).toEqual(same(decodeSolanaMessage(sound)));
    }),
    { numRuns: 10_000 },
  );
  expect(passed).toBeGreaterThan(0);
});

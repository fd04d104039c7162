import type { SolanaInstruction } from '@florin/signer/solana';
import { expect, test } from 'vitest';
import { failureOf } from './failures.ts';

const transfer: SolanaInstruction = {
  kind: 'transfer',
  source: 'source',
  mint: 'mint',
  destination: 'destination',
  authority: 'delegate',
  amount: 1n,
  decimals: 6,
};
const instructions: SolanaInstruction[] = [
  { kind: 'computeLimit', units: 1 },
  { kind: 'memo', text: 'memo' },
  { kind: 'createTokenAccount', payer: 'payer', account: 'account', owner: 'owner', mint: 'mint' },
  transfer,
  { kind: 'close', account: 'source', destination: 'payer', owner: 'owner' },
];

test.each([
  [3, { Custom: 1 }, 'insufficient_funds'],
  [3, { Custom: 4 }, 'wrong_owner'],
  [3, { Custom: 17 }, 'account_frozen'],
  [4, { Custom: 11 }, 'account_not_empty'],
  [2, { Custom: 1 }, 'rent_unpaid'],
  [2, { Custom: 17 }, 'instruction 2 (createTokenAccount): error 17'],
  [1, { Custom: 1 }, 'instruction 1 (memo): error 1'],
  [0, { Custom: 4 }, 'instruction 0 (computeLimit): error 4'],
  [3, 'ComputationalBudgetExceeded', 'instruction 3 (transfer): "ComputationalBudgetExceeded"'],
  [9, { Custom: 1 }, 'instruction 9 (unknown): error 1'],
])(
  'the failure of instruction %s by %j is named by what that instruction does: %s',
  (place, inner, reason) => {
    const step = instructions[place];
    const found = failureOf({ InstructionError: [place, inner] }, { instructions });
    expect(found).toEqual({ reason, ...(step && { step }) });
  },
);

test.each([
  ['InsufficientFundsForFee', 'InsufficientFundsForFee'],
  [{ InsufficientFundsForRent: { account_index: 0 } }, 'InsufficientFundsForRent'],
  [{}, 'refused'],
  [undefined, 'refused'],
])('what names no instruction, %j, is a failure of the whole: %s', (err, reason) => {
  expect(failureOf(err, { instructions })).toEqual({ reason });
});

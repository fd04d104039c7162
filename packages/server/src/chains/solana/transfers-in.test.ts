import { TOKEN_PROGRAM } from '@florin/signer/solana';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { ChainUnavailable } from '../port/port-errors.ts';
import { readTransaction, type WatchedAccount } from './transfers-in.ts';

const key = (number: number) => base58.encode(new Uint8Array(32).fill(number));
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const SIGNATURE = base58.encode(new Uint8Array(64).fill(7));
const [PAYER, SOURCE, OURS, MINT, OWNER, ROUTER] = [1, 2, 3, 4, 5, 6].map(key);
const KEYS = [PAYER, SOURCE, OURS, MINT, TOKEN_PROGRAM, TOKEN_2022, ROUTER];
const watched: WatchedAccount = { account: OURS ?? '', owner: OWNER ?? '', asset: 'USDC', mint: MINT ?? '' };

function amountBytes(amount: bigint): number[] {
  return Array.from({ length: 8 }, (_, i) => Number((amount >> BigInt(8 * i)) & 0xffn));
}

const instruction = (program: number, accounts: number[], data: number[]) => ({
  programIdIndex: program,
  accounts,
  data: base58.encode(Uint8Array.from(data)),
});
const plain = (amount: bigint) => instruction(4, [1, 2, 0], [3, ...amountBytes(amount)]);
const checked = (amount: bigint) => instruction(4, [1, 3, 2, 0], [12, ...amountBytes(amount), 6]);
const withFee = (amount: bigint) =>
  instruction(5, [1, 3, 2, 0], [26, 1, ...amountBytes(amount), 6, ...amountBytes(0n)]);
const route = instruction(6, [0, 1, 2], [1, 2, 3]);

interface Shape {
  instructions?: object[];
  inner?: object[];
  before?: bigint;
  after?: bigint;
  err?: unknown;
  slot?: number;
  signature?: string;
}

function read(shape: Shape) {
  const { instructions = [], inner = [], before, after, err = null, slot = 9, signature = SIGNATURE } = shape;
  const balance = (amount: bigint | undefined) =>
    amount === undefined
      ? []
      : [{ accountIndex: 2, mint: MINT, owner: OWNER, uiTokenAmount: { amount: String(amount) } }];
  const source = [{ accountIndex: 1, mint: MINT, owner: PAYER, uiTokenAmount: { amount: '1000' } }];
  const answer = {
    slot,
    blockTime: 1_770_000_000,
    transaction: { signatures: [signature], message: { accountKeys: KEYS, instructions } },
    meta: {
      err,
      preTokenBalances: [...source, ...balance(before)],
      postTokenBalances: [...source, ...balance(after)],
      innerInstructions: inner,
    },
  };
  return readTransaction(answer, { signature: SIGNATURE, slot: 9n }, new Map([[watched.account, watched]]));
}

const transfersOf = (shape: Shape) =>
  read(shape).arrivals.map(({ transfer: { index, amount, from } }) => ({ index, amount, from }));

describe('what a transaction brings', () => {
  test('transfers have their place among all of them, those of other programs’ calls too', () => {
    const shape = {
      instructions: [checked(1n), route, plain(4n)],
      inner: [{ index: 1, instructions: [plain(2n), checked(3n)] }],
      after: 10n,
    };
    expect(transfersOf(shape)).toEqual(
      [1n, 2n, 3n, 4n].map((amount, index) => ({ index, amount, from: PAYER })),
    );
    expect(read(shape).changes).toEqual(new Map([[OURS, 10n]]));
  });

  test('transfers of nothing and of the other token program count, and bring nothing by themselves', () => {
    expect(transfersOf({ instructions: [checked(0n), plain(5n)], before: 1n, after: 6n })).toEqual([
      { index: 1, amount: 5n, from: PAYER },
    ]);
    expect(transfersOf({ instructions: [withFee(7n)], after: 7n })).toMatchObject([{ index: 0, amount: 7n }]);
  });

  test('a transfer that names references besides its accounts, as Solana Pay has it, is a transfer', () => {
    const referring = instruction(4, [1, 3, 2, 0, 6], [12, ...amountBytes(8n), 6]);
    expect(transfersOf({ instructions: [referring], after: 8n })).toEqual([
      { index: 0, amount: 8n, from: PAYER },
    ]);
  });

  test('coins that came by no transfer are found by the balance, from the mint', () => {
    expect(transfersOf({ instructions: [checked(2n)], after: 9n })).toEqual([
      { index: 0, amount: 2n, from: PAYER },
      { index: 1_000_002, amount: 7n, from: MINT },
    ]);
  });

  test('a failed transaction brings nothing', () => {
    const err = { InstructionError: [0, { Custom: 1 }] };
    expect(read({ instructions: [checked(2n)], err })).toEqual({ arrivals: [], changes: new Map() });
  });

  test('an account that was emptied and closed is left with nothing', () => {
    const out = instruction(4, [2, 3, 1, 0], [12, ...amountBytes(5n), 6]);
    const { arrivals, changes } = read({ instructions: [out], before: 5n });
    expect([arrivals, changes]).toEqual([[], new Map([[OURS, -5n]])]);
  });

  test.each<[string, Shape]>([
    ['more in transfers than in balances', { instructions: [checked(2n)], before: 5n, after: 5n }],
    ['another slot than listed', { instructions: [checked(2n)], after: 2n, slot: 10 }],
    ['another transaction', { instructions: [checked(2n)], after: 2n, signature: key(8) }],
    [
      'a program that is none of its accounts',
      { instructions: [{ ...checked(2n), programIdIndex: -1 }], after: 2n },
    ],
    ['a transfer cut short', { instructions: [instruction(4, [1, 2, 0], [3, 1])], after: 1n }],
  ])('%s: nothing of it is believed', (_, shape) => {
    expect(() => read(shape)).toThrow(ChainUnavailable);
  });
});

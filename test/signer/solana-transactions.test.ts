import { randomBytes } from 'node:crypto';
import { address, type Base64EncodedWireTransaction } from '@solana/kit';
import { expect, test } from 'vitest';
import type { SignerAsset } from '../../packages/signer/src/protocol.ts';
import { SolanaAccounts } from '../../packages/signer/src/solana/accounts.ts';
import { tokenAccountOf } from '../../packages/signer/src/solana/address.ts';
import type { SolanaInstruction } from '../../packages/signer/src/solana/instruction.ts';
import {
  encodeSignedSolana,
  encodeSolanaMessage,
  type SolanaMessage,
  signersOf,
  signSolanaMessage,
  solanaTransactionId,
} from '../../packages/signer/src/solana/message.ts';
import { matchSolanaPurpose, memoOf, type SolanaPurpose } from '../../packages/signer/src/solana/purposes.ts';
import { mandateOf } from '../../packages/signer/src/solana/test-mandate.ts';
import type { Payment } from '../../packages/signer/src/statement.ts';
import { balance, client, node, refusal, SOL, stranger, usdt, useSolana } from '../nodes/solana-stage.ts';

useSolana();

const accounts = new SolanaAccounts(randomBytes(64));
const book = {
  hot: (account: number) => accounts.hot(account).address,
  deposit: (account: number, index: number) => accounts.deposit(account, index).address,
  delegate: () => accounts.delegate().address,
};
const FEE_PAYER = book.hot(0);
const HOT = book.hot(1);
const PAYER = accounts.deposit(500, 0);
const KEYS = [
  ...[0, 1].map((account) => accounts.hot(account)),
  ...[0, 1].map((index) => accounts.deposit(1, index)),
  accounts.delegate(),
  PAYER,
];
const ID = '01890000-0000-7000-8000-0000000000aa';
const BUDGET: SolanaInstruction[] = [
  { kind: 'computeLimit', units: 400_000 },
  { kind: 'computePrice', microLamports: 10_000n },
];

const opening = (owner: string): SolanaInstruction => ({
  kind: 'createTokenAccount',
  payer: FEE_PAYER,
  account: tokenAccountOf(owner, usdt),
  owner,
  mint: usdt,
});
const transfer = (from: string, to: string, amount: bigint, authority = from): SolanaInstruction => ({
  kind: 'transfer',
  source: tokenAccountOf(from, usdt),
  mint: usdt,
  destination: tokenAccountOf(to, usdt),
  authority,
  amount,
  decimals: 6,
});

async function messageOf(feePayer: string, instructions: SolanaInstruction[]): Promise<SolanaMessage> {
  const { value } = await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send();
  return { version: 0, feePayer, blockhash: value.blockhash, instructions };
}

/** Signs with the keys of whoever has to. @returns what the fee payer lost */
async function send(message: SolanaMessage): Promise<bigint> {
  const lamports = async () =>
    (await client.rpc.getBalance(address(message.feePayer), { commitment: 'processed' }).send()).value;
  const before = await lamports();
  const signed = signSolanaMessage(message, (owner) => {
    const key = KEYS.find((one) => one.address === owner);
    if (key === undefined) throw new Error(`nobody has the key of ${owner}`);
    return key.privateKey;
  });
  const wire = Buffer.from(encodeSignedSolana(signed)).toString('base64') as Base64EncodedWireTransaction;
  const sent = await client.rpc
    .sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' })
    .send();
  expect(sent).toBe(solanaTransactionId(signed));
  return before - (await lamports());
}

/** As the signer judges it. */
function judged(account: number, purpose: SolanaPurpose, message: SolanaMessage): bigint {
  const tokens = new Map<SignerAsset, string>([['USDT', usdt]]);
  const rules = {
    tokens,
    computeUnits: 400_000,
    priorityFee: 10_000n,
    genesis: usdt,
    nativeFeePerDay: 1n,
    nativeFeePerMerchantDay: 1n,
    allowProgramOwned: false,
    node: null,
    charges: { perTransfer: 1n, perDay: 1n, perMerchantDay: 1n, resendPerDay: 0n },
    accounts: new Map(),
  };
  return matchSolanaPurpose({ account, purpose, message, rules, book }).cost;
}

test('eight payments to new accounts with a memo are one transaction, and cost what was judged', async () => {
  node.controls.fund(address(FEE_PAYER), SOL);
  await node.controls.mint(usdt, address(HOT), 100n);
  const items = await Promise.all(
    Array.from({ length: 8 }, async (_, place) => ({
      place,
      to: await stranger(),
      amount: String(place + 1),
      memo: null,
    })),
  );
  const purpose: Payment = {
    kind: 'payout',
    merchant: '01890000-0000-7000-8000-000000000001',
    id: ID,
    asset: 'USDT',
    items,
    places: items.map(({ place }) => place),
    approvals: [],
  };
  const message = await messageOf(FEE_PAYER, [
    ...BUDGET,
    { kind: 'memo', text: memoOf(ID) },
    ...items.flatMap(({ to, amount }) => [opening(to), transfer(HOT, to, BigInt(amount))]),
  ]);
  expect(1 + 64 * signersOf(message).length + encodeSolanaMessage(message).length).toBeLessThanOrEqual(1232);
  const cost = judged(1, purpose, message);
  expect(await send(message)).toBe(cost);
  for (const { to, amount } of items) expect(await balance(address(to))).toBe(BigInt(amount));
  expect(await balance(address(HOT))).toBe(100n - 36n);
});

test('deposits without SOL are swept into the hot wallet, and their rent comes back', async () => {
  node.controls.fund(address(FEE_PAYER), SOL);
  const deposits = [0, 1].map((index) => ({ index, asset: 'USDT' as const, amount: '5' }));
  for (const { index } of deposits) await node.controls.mint(usdt, address(book.deposit(1, index)), 5n);
  const message = await messageOf(FEE_PAYER, [
    ...BUDGET,
    opening(HOT),
    ...deposits.flatMap(({ index }): SolanaInstruction[] => {
      const owner = book.deposit(1, index);
      return [
        transfer(owner, HOT, 5n),
        { kind: 'close', account: tokenAccountOf(owner, usdt), destination: FEE_PAYER, owner },
      ];
    }),
  ]);
  const cost = judged(0, { kind: 'sweep', account: 1, deposits }, message);
  // Two accounts are closed and one is opened.
  expect(await send(message)).toBe(cost - 2n * 2_039_280n);
  expect(await balance(address(HOT))).toBe(10n);
  for (const { index } of deposits) expect(await balance(address(book.deposit(1, index)))).toBeUndefined();
});

test('what a payer approves is pulled by the delegate, and nothing after the payer has revoked it', async () => {
  for (const owner of [FEE_PAYER, PAYER.address]) node.controls.fund(address(owner), SOL);
  await node.controls.mint(usdt, address(PAYER.address), 50n);
  const source = tokenAccountOf(PAYER.address, usdt);
  const owner = PAYER.address;
  const approval: SolanaInstruction = {
    kind: 'approve',
    source,
    mint: usdt,
    delegate: book.delegate(),
    owner,
    amount: 20n,
    decimals: 6,
  };
  await send(await messageOf(owner, [approval]));
  const of = { genesis: usdt, asset: 'USDT', mint: usdt, recipient: HOT, start: 0 } as const;
  const mandate = mandateOf(PAYER, of);
  const charge = { kind: 'charge', id: ID, asset: 'USDT', payer: owner, amount: '15', mandate } as const;
  const pulling = async () =>
    await messageOf(FEE_PAYER, [
      ...BUDGET,
      { kind: 'memo', text: memoOf(ID) },
      opening(HOT),
      transfer(owner, HOT, 15n, book.delegate()),
    ]);
  const message = await pulling();
  const cost = judged(1, charge, message);
  expect(await send(message)).toBe(cost);
  expect(await balance(address(HOT))).toBe(15n);
  node.chain.produce();
  expect((await refusal(send(await pulling()))).cause).toMatch(/#1\b/);
  await send(await messageOf(owner, [{ ...approval, amount: 30n }]));
  await send(await messageOf(owner, [{ kind: 'revoke', source, owner }]));
  expect((await refusal(send(await pulling()))).cause).toMatch(/#4\b/);
  expect(await balance(address(owner))).toBe(35n);
});

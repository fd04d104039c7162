import { address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approvesDue, paysDue } from '../../../packages/pages/src/checkout/wallet/solana-transaction.ts';
import type { MandateOffer } from '../../../packages/pages/src/subscription/wallet/mandate-run.ts';
import { termsText } from '../../../packages/pages/src/subscription/wallet/mandate-solana.ts';
import type { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import { HeadFeed } from '../../../packages/server/src/chains/solana/heads.ts';
import {
  buildPayerApproval,
  readLostApproval,
} from '../../../packages/server/src/chains/solana/payer-approval.ts';
import { buildPayerTransfer } from '../../../packages/server/src/chains/solana/payer-transfer.ts';
import { isSignedText } from '../../../packages/server/src/chains/solana/signed-text.ts';
import { solanaAddressBytes, tokenAccountOf } from '../../../packages/signer/src/solana/address.ts';
import { mandateText } from '../../../packages/signer/src/solana/mandate.ts';
import { readTransaction } from '../../nodes/solana/wire.ts';
import { SolanaEnvironment } from './environment.ts';
import { KEYS } from './key-signer.ts';
import { signAs } from './named-wallets.ts';

const UNITS = 25_000_000n;
const SOL = 1_000_000_000n;
const RENT = 2_039_280n;
/** What a wallet keeps, at least. */
const KEPT = 890_880n;
const FEE = 5_000n;

let local: SolanaEnvironment;
let node: SolanaEndpoints;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  node = local.endpoints();
});
afterAll(async () => {
  await node?.close();
  await local?.node.stop();
});

/** A wallet with coins, and what it would pay to a deposit address of its own. */
async function payer(name: string, { lamports = SOL, index = 0 } = {}) {
  const from = local.wallet(name);
  const to = KEYS.deposit(1, index).address;
  await local.give('USDC', from, 2n * UNITS);
  local.node.controls.fund(address(from), lamports);
  local.mine(1);
  const build = (change: object = {}) =>
    buildPayerTransfer(
      { network: local.network, node, feed: new HeadFeed(node, 0) },
      { from, to, asset: 'USDC', units: UNITS, ...change },
    );
  const built = async () => {
    const found = await build();
    if (found === undefined || !('transaction' in found)) throw new Error('the wallet can pay');
    return Uint8Array.from(Buffer.from(found.transaction, 'base64'));
  };
  return { from, to, build, built, due: { from, to, mint: local.mint('USDC') as string, units: UNITS } };
}

test('a wallet that lacks coins, or SOL for fee and rent, is told so, and what is no wallet gets nothing', async () => {
  const { from, build } = await payer('a poor payer', { lamports: KEPT + FEE + RENT - 1n });
  expect(await build({ units: 2n * UNITS + 1n })).toEqual({ short: 'token', held: 2n * UNITS });
  expect(await build({ asset: 'USDT' })).toEqual({ short: 'token', held: 0n });
  expect(await build()).toEqual({ short: 'fee', coin: 'SOL' });
  local.node.controls.fund(address(from), 1n);
  expect(await build()).toMatchObject({ transaction: expect.any(String) });
  const account = tokenAccountOf(from, local.mint('USDC'));
  for (const none of ['', 'x', `0x${'1'.repeat(40)}`, account, '1'.repeat(32)])
    expect(await build({ from: none }), none).toBeUndefined();
});

test('the network takes what the page takes, once the wallet has signed it; the second time no account is opened', async () => {
  const wallet = 'a payer who pays twice';
  const { to, built, due } = await payer(wallet, { lamports: KEPT + RENT + 2n * FEE, index: 1 });
  for (const [units, index] of [
    [UNITS, 0],
    [2n * UNITS, 1],
  ] as const) {
    const transaction = await built();
    expect(paysDue(transaction, due), String(index)).toBe(true);
    const id = await local.sendAs(wallet, transaction);
    local.mine(1);
    expect(local.node.chain.transactions.get(id)?.err).toBeNull();
    const { balances } = await local.open(node).balances([to], 'USDC', 'tip');
    expect(balances.get(to)).toBe(units);
  }
});

test('the page takes no other transaction: no byte of it may differ, but for the blockhash and the price', async () => {
  const { built, due, from } = await payer('a payer who is watched', { index: 2 });
  const transaction = await built();
  const { message } = readTransaction(Buffer.from(transaction).toString('base64'), 'base64');
  const hash = Buffer.from(transaction).indexOf(solanaAddressBytes(message.lifetimeToken));
  // Limit and price of the compute units follow the blockhash: 1 program, no accounts, 5 and 9 bytes.
  const limit = hash + 32 + 1 + 3;
  const price = limit + 5 + 3;
  // Whose the two token accounts are is what the network checks.
  const placeOf = (owner: string) => {
    const account = solanaAddressBytes(tokenAccountOf(owner, local.mint('USDC')));
    return Buffer.from(transaction).indexOf(account);
  };
  const [source, destination] = [placeOf(from), placeOf(due.to)];
  const mayDiffer = (place: number) =>
    (place >= source && place < source + 32) ||
    (place >= destination && place < destination + 32) ||
    (place >= hash && place < hash + 32) ||
    (place > limit && place < limit + 5) ||
    (place > price && place < price + 9);
  const flipped = (place: number) => {
    const other = Uint8Array.from(transaction);
    other[place] = (transaction[place] ?? 0) ^ 1;
    return other;
  };
  for (const place of transaction.keys())
    if (!mayDiffer(place)) expect(paysDue(flipped(place), due), `byte ${place}`).toBe(false);
  expect(paysDue(flipped(hash), due)).toBe(true);
  const stolen = Uint8Array.from(transaction);
  const thief = local.wallet('a thief');
  await local.give('USDC', thief, 1n);
  stolen.set(solanaAddressBytes(tokenAccountOf(thief, local.mint('USDC'))), destination);
  await expect(local.sendAs('a payer who is watched', stolen)).rejects.toThrow(
    /seed derivation|custom program error|InvalidSeeds|Provided seeds/i,
  );
  // A price above a hundredth of a SOL.
  expect(paysDue(flipped(price + 1), due)).toBe(true);
  expect(paysDue(flipped(price + 8), due)).toBe(false);
  // A length that is written in two bytes, and read as another by some.
  expect(transaction[limit - 2]).toBe(0);
  for (const at of [limit - 2, limit - 1, limit])
    for (const alias of [[0x80, 0x00], [0x80], [0x85, 0x00]])
      expect(
        paysDue(
          Uint8Array.from([...transaction.subarray(0, at), ...alias, ...transaction.subarray(at + 1)]),
          due,
        ),
      ).toBe(false);
  for (const length of [0, 1, 64, 70, transaction.length - 1])
    expect(paysDue(transaction.subarray(0, length), due)).toBe(false);
  expect(paysDue(Uint8Array.from([...transaction, 0]), due)).toBe(false);
  for (const other of [{ units: UNITS + 1n }, { to: from }, { from: due.to }, { mint: local.mint('USDT') }])
    expect(paysDue(transaction, { ...due, ...other })).toBe(false);
});

test('an approval is built while it is missing, and the page takes that one alone', async () => {
  const name = 'a payer who approves';
  const { from } = await payer(name, { lamports: KEPT + FEE - 1n, index: 3 });
  const delegate = KEYS.delegate().address;
  const context = { network: local.network, node, feed: new HeadFeed(node, 0) };
  const build = (change: object = {}) =>
    buildPayerApproval(context, delegate, { from, asset: 'USDC', units: UNITS, added: UNITS, ...change });
  const lost = () => readLostApproval(context, delegate, { from, asset: 'USDC' });
  expect(await build()).toEqual({ short: 'fee', coin: 'SOL' });
  expect(await build({ asset: 'USDT' })).toEqual({ short: 'token', held: 0n });
  for (const none of ['', 'x', `0x${'1'.repeat(40)}`])
    expect(await build({ from: none }), none).toBeUndefined();
  expect(await lost()).toBe('none');
  local.node.controls.fund(address(from), SOL);
  const built = await build();
  if (built === undefined || !('transaction' in built)) throw new Error('the wallet can approve');
  expect(built.units).toBe(UNITS);
  const transaction = Uint8Array.from(Buffer.from(built.transaction, 'base64'));
  const due = { owner: from, delegate, mint: local.mint('USDC') as string, units: UNITS };
  expect(approvesDue(transaction, due)).toBe(true);
  expect(paysDue(transaction, { from, to: delegate, mint: due.mint, units: UNITS })).toBe(false);
  const { message } = readTransaction(built.transaction, 'base64');
  const hash = Buffer.from(transaction).indexOf(solanaAddressBytes(message.lifetimeToken));
  const limit = hash + 32 + 1 + 3;
  const price = limit + 5 + 3;
  const source = Buffer.from(transaction).indexOf(
    solanaAddressBytes(tokenAccountOf(from, local.mint('USDC'))),
  );
  const mayDiffer = (place: number) =>
    (place >= source && place < source + 32) ||
    (place >= hash && place < hash + 32) ||
    (place > limit && place < limit + 5) ||
    (place > price && place < price + 9);
  for (const place of transaction.keys()) {
    const other = Uint8Array.from(transaction);
    other[place] = (transaction[place] ?? 0) ^ 1;
    if (!mayDiffer(place)) expect(approvesDue(other, due), `byte ${place}`).toBe(false);
  }
  for (const other of [
    { units: UNITS + 1n },
    { delegate: from },
    { owner: delegate },
    { mint: local.mint('USDT') },
  ])
    expect(approvesDue(transaction, { ...due, ...other })).toBe(false);
  await local.sendAs(name, transaction);
  local.mine(1);
  expect(await build()).toEqual({ isApproved: true });
  // An approval is in all: one that was read before this one would take it back.
  expect(await build({ units: UNITS + 1n })).toEqual({ isChanged: true });
  expect(await build({ units: UNITS + 1n, added: 1n })).toMatchObject({ units: UNITS + 1n });
  expect(await lost()).toBeNull();
  expect(await readLostApproval(context, local.wallet('another'), { from, asset: 'USDC' })).toBe(
    'other_delegate',
  );
  expect(await readLostApproval(context, delegate, { from: local.wallet('nobody'), asset: 'USDC' })).toBe(
    'closed',
  );
});

test('the page makes the terms that the signer wants, and no others', () => {
  const [payer, recipient, mint] = ['a payer', 'a recipient', 'a mint'].map((name) => local.wallet(name));
  if (payer === undefined || recipient === undefined || mint === undefined)
    throw new Error('there are three');
  const at = { token: 'USDC', interval: 'month', mint };
  for (const [cap, endsAt] of [
    ['50000000', null],
    ['1', 1_900_000_000],
    ['1234567', null],
    ['1234500', null],
    ['7000', null],
  ] as const) {
    const terms = {
      cap,
      period: 'month',
      startsAt: 1_800_000_000,
      endsAt,
      subscriptions: 2,
      salt: 'a-salt',
    } as const;
    const message = mandateText({ genesis: 'G1', asset: 'USDC', mint, payer, recipient, terms });
    const approve = { kind: 'approve', spender: recipient, amount: cap } as const;
    const offerOf = (text: string, change: object = {}): MandateOffer => ({
      wallet: payer,
      cap,
      subscriptions: 2,
      starts_at: 1_800_000_000,
      steps: [approve, { kind: 'activate', typed_data: null, message: text }],
      ...change,
    });
    expect(termsText(at, payer, offerOf(message))).toBe(message);
    for (const change of [{ cap: '2' }, { subscriptions: 3 }, { starts_at: 1 }])
      expect(termsText(at, payer, offerOf(message, change))).not.toBe(message);
    for (const other of [
      message.replace('at most', 'at least'),
      message.replace('period month', 'period day'),
      `${message}x`,
      message.replace('salt a-salt', 'salt a-salt and more'),
      message.replace(`payer ${payer}`, `payer ${recipient}`),
    ])
      expect(termsText(at, payer, offerOf(other)), other).not.toBe(other);
  }
});

test('a text is signed by the key of its address, every byte of it', () => {
  const text = 'pay.example wants you to sign in with your Solana account: ü';
  const signed = signAs('a payer who signs', Buffer.from(text));
  const right = {
    address: local.wallet('a payer who signs'),
    text,
    signature: `0x${Buffer.from(signed).toString('hex')}`,
  };
  expect(isSignedText(right)).toBe(true);
  for (const wrong of [
    { text: `${text} ` },
    { address: local.wallet('another payer') },
    { address: '1'.repeat(32) },
    { address: 'x' },
    { signature: `${right.signature.slice(0, -2)}00` },
    { signature: right.signature.slice(2) },
    { signature: '0x' },
  ])
    expect(isSignedText({ ...right, ...wrong }), JSON.stringify(wrong)).toBe(false);
});

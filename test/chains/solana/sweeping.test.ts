import { address } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnbuildableTransfer } from '../../../packages/server/src/chains/port/port.ts';
import type { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import { tokenAccountOf } from '../../../packages/signer/src/solana/address.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from './environment.ts';

let local: SolanaEnvironment;
let rpc: SolanaEndpoints;
let chain: ReturnType<SolanaEnvironment['open']>;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  rpc = local.endpoints();
  chain = local.open(rpc);
  for (const asset of ['USDC', 'USDT'] as const) await local.give(asset, await chain.sender('hot'), 1n);
});
afterAll(async () => {
  await rpc.close();
  await local.node.stop();
});

const lamports = async (owner: string) => await chain.nativeBalance(owner);

describe('sweeps', () => {
  let index = 500;
  async function paid(amounts: readonly bigint[], asset: 'USDC' | 'USDT' = 'USDC') {
    const from = local.wallet('a payer of what is swept');
    return await Promise.all(
      amounts.map(async (amount) => {
        index += 1;
        const own = index;
        const { address: to } = await chain.depositAddress({ index: own });
        return {
          index: own,
          to,
          asset,
          amount,
          itemId: `sweep ${own}`,
          payment: { from, to, asset, amount },
        };
      }),
    );
  }
  const sweep = (items: Awaited<ReturnType<typeof paid>>) =>
    chain.buildSweep({ signing: nextSigning(), sequence: '0', items });
  const exists = (owner: string, asset: 'USDC' | 'USDT') =>
    local.node.chain.account(address(tokenAccountOf(owner, local.mint(asset)))).exists;

  test('deposit keys without SOL sign, both tokens go home in one transaction, and the rent comes back', async () => {
    const items = [...(await paid([1n, 2n, 3n])), ...(await paid([4n, 5n], 'USDT'))];
    for (const { payment } of items) await local.pay([payment]);
    local.mine(FINAL_BLOCKS);
    const [hot, feePayer] = [await chain.sender('hot'), await chain.sender('tank')];
    const before = await chain.balance(hot, 'USDT', 'final');
    const lamportsBefore = await lamports(feePayer);
    const tx = await sweep(items);
    expect(tx.sender).toBe(feePayer);
    expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: Array(5).fill(true) });
    expect((await chain.balance(hot, 'USDT', 'final')) - before).toBe(9n);
    expect(items.map(({ to, asset }) => exists(to, asset))).toEqual(Array(5).fill(false));
    expect(await lamports(feePayer)).toBeGreaterThan(lamportsBefore + 5n * 2_000_000n);
    for (const { to } of items) expect(await lamports(to)).toBe(0n);
  });

  test('late money opens the account again and is found, though it is as much as was swept', async () => {
    const [item] = await paid([8n]);
    if (item === undefined) throw new Error('no deposit');
    const watch = [item.to];
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    await local.pay([item.payment]);
    local.mine(FINAL_BLOCKS);
    const first = await chain.scan({ level: 'final', cursor: begin, watch });
    expect(first.transfers).toHaveLength(1);
    await chain.broadcast(await sweep([item]));
    local.mine(1);
    const late = await local.pay([item.payment]);
    local.mine(FINAL_BLOCKS);
    const second = await chain.scan({ level: 'final', cursor: first.cursor, watch });
    expect(second.transfers).toMatchObject([{ txId: late, amount: 8n }]);
    expect(await chain.balance(item.to, 'USDC', 'final')).toBe(8n);
  });

  test('an account that holds more than is swept stays open with the rest', async () => {
    const [item] = await paid([6n]);
    if (item === undefined) throw new Error('no deposit');
    await local.pay([item.payment]);
    await local.pay([{ ...item.payment, amount: 1n }]);
    const tx = await sweep([item]);
    await chain.broadcast(tx);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(tx)).toMatchObject({ state: 'final' });
    expect(await chain.balance(item.to, 'USDC', 'final')).toBe(1n);
  });

  test('dust that comes between reading and block makes one attempt fail: the next one leaves the account open', async () => {
    const [item] = await paid([9n]);
    if (item === undefined) throw new Error('no deposit');
    await local.pay([item.payment]);
    const closing = await sweep([item]);
    await local.pay([{ ...item.payment, amount: 1n }]);
    await chain.broadcast(closing);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(closing)).toMatchObject({ state: 'failed', reason: 'account_not_empty' });
    // However late it comes, and with the dust as well, so that it would empty the account again.
    local.mine(2_100);
    await chain.scan({ level: 'final', cursor: null, watch: [item.to] });
    const next = await sweep([{ ...item, amount: 10n }]);
    await local.pay([{ ...item.payment, amount: 1n }]);
    await chain.broadcast(next);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(next)).toMatchObject({ state: 'final', itemOk: [true] });
    expect(await chain.balance(item.to, 'USDC', 'final')).toBe(1n);
  });

  test('more addresses than fit are refused', async () => {
    await expect(sweep(await paid([1n, 1n, 1n, 1n, 1n, 1n]))).rejects.toThrow(UnbuildableTransfer);
    await expect(sweep([])).rejects.toThrow(UnbuildableTransfer);
  });
});

test('addresses that the signer names are believed where they are wallets of nobody else and of one number each', async () => {
  const named = await chain.nameAddresses({ from: 7, count: 3 });
  const derived = await Promise.all([7, 8, 9].map((index) => chain.depositAddress({ index })));
  expect(named).toEqual(derived);
  const [one = '', other = ''] = named.map(({ address: text }) => text);
  const mint = local.mint('USDC');
  for (const [wrong, line] of [
    [[one], 'names 1 addresses, not 2'],
    [[one, one], 'one address for two numbers'],
    [[one, await chain.sender('hot')], 'a wallet that is used otherwise'],
    [[await chain.sender('tank'), other], 'a wallet that is used otherwise'],
    [[one, mint], 'a wallet that is used otherwise'],
    [[one, tokenAccountOf(one, mint)], 'what is no wallet of this network'],
    [[one, `${other}1`], 'what is no wallet of this network'],
  ] as const) {
    const lied = local.open(rpc, { name: async () => [...wrong] });
    await expect(lied.nameAddresses({ from: 7, count: 2 })).rejects.toThrow(line);
  }
  await expect(chain.nameAddresses({ from: 2 ** 31 - 1, count: 2 })).rejects.toThrow(RangeError);
});

import { address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port.ts';
import { NodeError } from '../../../packages/server/src/chains/rpc/node.ts';
import type { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import type { SolanaNode } from '../../../packages/server/src/chains/solana/node.ts';
import { tokenAccountOf } from '../../../packages/signer/src/solana/address.ts';
import type { Endpoint } from '../../nodes/solana/rpc.ts';
import { TOKEN_2022 } from '../../nodes/solana/tokens.ts';
import { FINAL_BLOCKS, MemoryMarks, SolanaEnvironment } from './environment.ts';
import { lying, type Shown, withLongData } from './lying-node.ts';

let local: SolanaEnvironment;
let others: Endpoint[];
/** Of two providers; of three. */
let two: SolanaEndpoints;
let three: SolanaEndpoints;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  others = [await local.node.open(), await local.node.open()];
  const urls = [local.node.url, ...others.map(({ url }) => url)].map((url) => ({ url, isOwn: false }));
  two = local.endpoints({ ...local.network, endpoints: urls.slice(0, 2) });
  three = local.endpoints({ ...local.network, endpoints: urls });
});
afterAll(async () => {
  await Promise.all([two.close(), three.close()]);
  await local.node.stop();
});
afterEach(() => {
  for (const { view, faults } of [local.node.endpoint, ...others]) {
    view.lag = 0;
    view.hole = undefined;
    view.genesisHash = local.node.chain.genesisHash;
    faults.clear();
  }
});

let deposits = 0;
const newDeposit = async (chain: ReturnType<SolanaEnvironment['open']>): Promise<string> =>
  (await chain.depositAddress({ index: ++deposits })).address;
const payFrom = (to: string, amount: bigint) =>
  local.pay([{ from: local.wallet('a payer'), to, asset: 'USDC', amount }]);

describe('endpoints of Solana', () => {
  test('one that serves another genesis is not used, and the error says which and why', async () => {
    local.node.endpoint.view.genesisHash = '1'.repeat(44);
    const fresh = local.endpoints({ ...local.network, endpoints: [{ url: local.node.url, isOwn: true }] });
    await expect(local.open(fresh).head()).rejects.toThrow(
      /serves a chain with another genesis \(1+\): correct its URL, or genesis_hash/,
    );
    await fresh.close();
  });

  test('heads are those that two of them have reached; one that is away leaves two', async () => {
    const { height, finalHeight } = await local.open(three).head();
    expect(height - finalHeight).toBe(BigInt(FINAL_BLOCKS - 1));
    local.node.endpoint.view.lag = 20;
    expect((await local.open(three).head()).height).toBe(height);
    expect((await local.open(two).head()).height).toBe(height - 20n);
    others[1]?.faults.plan({ how: 'limit', times: Number.POSITIVE_INFINITY });
    expect((await local.open(three).head()).height).toBe(height - 20n);
    local.node.endpoint.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
    await expect(local.open(two).head()).rejects.toThrow(ChainUnavailable);
  });

  test('what is final is agreed on by two: one that lies decides nothing, and stops nothing where there are three', async () => {
    const chain = local.open(three);
    const to = await newDeposit(chain);
    await payFrom(to, 5n);
    local.mine(FINAL_BLOCKS);
    // It is as far as the others say, and shows accounts as they were.
    const late = others[0]?.view;
    if (late === undefined) throw new Error('no endpoint');
    expect(await chain.balance(to, 'USDC', 'final')).toBe(5n);
    late.lag = 30;
    expect(await chain.balance(to, 'USDC', 'final')).toBe(5n);
    await expect(local.open(two).balance(to, 'USDC', 'final')).rejects.toThrow('answer differently');
  });

  test('a block without a time, and a tip below the final block, are refused', async () => {
    const timeless = lying(two, (method, answer) => (method === 'getBlockTime' ? null : answer));
    await expect(local.open(timeless).head()).rejects.toThrow('the time of slot');
    const back: SolanaNode = {
      ...lying(two, (_, answer) => answer),
      newest: async (commitment) => ({ slot: commitment === 'finalized' ? 50n : 49n, blockHeight: 1n }),
    };
    await expect(local.open(back).head()).rejects.toThrow('a node has gone back');
  });

  test('a slot without a block shows the hash of the one before it', async () => {
    const chain = local.open(two);
    local.mine(2);
    const { height } = await chain.head();
    local.node.chain.skip(7);
    local.mine(FINAL_BLOCKS + 3);
    const slots = Array.from({ length: 9 }, (_, i) => height + BigInt(i));
    const hashes = await chain.blockHashes(slots);
    expect(new Set(slots.slice(0, 8).map((slot) => hashes.get(slot))).size).toBe(1);
    expect(hashes.get(height + 8n)).not.toBe(hashes.get(height));
    expect(hashes.get(height)).toEqual(expect.any(String));
    expect((await chain.blockHashes([height + 10_000n])).get(height + 10_000n)).toBeNull();
  });
});

describe('an own node that was away', () => {
  const own = () => local.endpoints();

  test('says of no block that it is gone while it catches up, and of none in its hole that it was replaced', async () => {
    const rpc = own();
    const chain = local.open(rpc);
    local.mine(20);
    const { slot } = local.node.chain.tip;
    local.node.chain.skip(3);
    local.mine(FINAL_BLOCKS + 20);
    const heights = [-10, -1, 0, 2, 8].map((more) => BigInt(slot + more));
    const before = await chain.blockHashes(heights);
    expect(before.size).toBe(5);
    const gone = BigInt(local.node.chain.tip.slot + 10_000);
    expect((await chain.blockHashes([gone])).get(gone)).toBeNull();
    const later = local.open(rpc, { nowMs: () => Date.now() + 120_000 });
    expect([...(await later.blockHashes([gone]))]).toEqual([]);
    // From within the slots without a block, so that another block would stand for them.
    local.node.endpoint.view.hole = { from: slot - 5, to: slot + 4 };
    const within = await chain.blockHashes(heights);
    expect([...within]).toEqual([...before].filter(([height]) => height < slot - 5 || height > slot + 4));
    await rpc.close();
  });

  test('a deposit that was told is not absent where the ledger has a hole: whoever reads again is refused', async () => {
    const rpc = own();
    const marks = new MemoryMarks();
    const chain = local.open(rpc, { marks });
    const to = await newDeposit(chain);
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    const query = { level: 'final', cursor: begin, watch: [to] } as const;
    const txId = await payFrom(to, 9n);
    const { slot } = local.node.chain.tip;
    local.mine(FINAL_BLOCKS);
    expect((await chain.scan(query)).transfers).toMatchObject([{ txId }]);
    local.mine(2);
    local.node.endpoint.view.hole = { from: slot, to: slot };
    await expect(chain.scan(query)).rejects.toThrow('what is missing there proves nothing');
    local.node.endpoint.view.hole = undefined;
    expect((await chain.scan(query)).transfers).toMatchObject([{ txId }]);
    await rpc.close();
  });
});

describe('addresses', () => {
  test('token accounts, mints, programs and program-owned accounts are told from wallets by the chain', async () => {
    const chain = local.open(two);
    const owner = local.wallet('somebody with coins');
    await local.give('USDT', owner, 1n);
    const mint = await local.node.controls.createToken('another token');
    const look = await local.node.controls.createToken('a look-alike', TOKEN_2022);
    const online = { online: true, allowProgramOwned: true };
    const check = async (text: string) => (await chain.validateAddress(text, online)).code;
    expect(await chain.validateAddress(owner, online)).toMatchObject({ ok: true, warnings: [] });
    expect(await check(tokenAccountOf(owner, local.mint('USDT')))).toBe('token_account');
    expect(await check(mint)).toBe('token_contract');
    expect(await check(look)).toBe('token_contract');
    expect((await chain.validateAddress(local.mint('USDT'))).code).toBe('token_contract');
    expect(await check('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')).toBe('program');
    // An associated account of nobody's yet: off the curve, a vault or a mistake.
    const vault = tokenAccountOf(owner, local.mint('USDC'));
    expect((await chain.validateAddress(vault)).code).toBe('token_account');
    expect(await chain.validateAddress(vault, online)).toMatchObject({
      ok: true,
      warnings: ['program_owned'],
    });
    local.node.endpoint.faults.plan({ how: 'down', times: 1 });
    others[0]?.faults.plan({ how: 'down', times: 1 });
    expect(await chain.validateAddress(mint, online)).toMatchObject({ ok: true });
  });
});

describe('deposits', () => {
  test('newly minted coins arrive, from the mint; failed payments and other owners do not', async () => {
    const chain = local.open(two);
    const to = await newDeposit(chain);
    const cursor = await chain.cursorAt((await chain.head()).finalHeight);
    await local.give('USDC', to, 7n);
    local.mine(FINAL_BLOCKS);
    const { transfers } = await chain.scan({ level: 'final', cursor, watch: [to] });
    expect(transfers).toMatchObject([{ asset: 'USDC', from: local.mint('USDC'), to, amount: 7n }]);
  });

  test('what was told and not stored is told again, though nobody is expected to pay that address any more', async () => {
    const marks = new MemoryMarks();
    const chain = local.open(two, { marks });
    const to = await newDeposit(chain);
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    const txId = await payFrom(to, 9n);
    local.mine(FINAL_BLOCKS);
    const told = await chain.scan({ level: 'final', cursor: begin, watch: [to] });
    expect(told.transfers).toMatchObject([{ txId }]);
    // The process ended before it stored that, and the address has no turn when another one goes on.
    marks.ownerOf.set(tokenAccountOf(to, local.mint('USDC')), to);
    local.mine(1);
    const watch = { each: async () => [], among: async (some: readonly string[]) => new Set(some) };
    const again = await chain.scan({ level: 'final', cursor: begin, watch });
    expect(again.transfers).toMatchObject([{ txId, to, amount: 9n }]);
    local.mine(1);
    expect((await chain.scan({ level: 'final', cursor: again.cursor, watch })).transfers).toEqual([]);
  });

  test('a transaction that a node does not list yet is told later, and the cursor does not wait for it', async () => {
    const marks = new MemoryMarks();
    let hides = true;
    const node = lying(two, (method, answer) =>
      hides && method === 'getSignaturesForAddress' ? [] : answer,
    );
    const chain = local.open(node, { marks });
    const to = await newDeposit(chain);
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    const txId = await payFrom(to, 9n);
    local.mine(FINAL_BLOCKS);
    const first = await chain.scan({ level: 'final', cursor: begin, watch: [to] });
    expect([first.transfers, first.complete]).toEqual([[], true]);
    expect(first.cursor).not.toBe(begin);
    hides = false;
    local.mine(1);
    const second = await chain.scan({ level: 'final', cursor: first.cursor, watch: [to] });
    expect(second.transfers).toMatchObject([{ txId, amount: 9n }]);
    local.mine(1);
    const third = await chain.scan({ level: 'final', cursor: second.cursor, watch: [to] });
    expect(third.transfers).toEqual([]);
  });

  test.each<[string, (shown: Shown) => unknown]>([
    ['a newer version of messages', () => new NodeError(-32_015, 'Transaction version (1) is not supported')],
    ['a block without a time', (shown) => ({ ...shown, blockTime: null })],
    [
      'a node without inner instructions',
      ({ meta, ...rest }) => ({ ...rest, meta: { ...meta, innerInstructions: null } }),
    ],
    [
      'a node without token balances',
      ({ meta, ...rest }) => ({ ...rest, meta: { ...meta, preTokenBalances: undefined } }),
    ],
    ['data that is too long', (shown) => withLongData(shown)],
    ['nothing, though it is listed', () => null],
  ])(
    '%s: that account is told as unread, the others go on, and it is told once it can be read',
    async (_, spoil) => {
      const marks = new MemoryMarks();
      let spoilt: string | undefined;
      const isSpoilt = (answer: unknown): answer is Shown =>
        spoilt !== undefined && JSON.stringify(answer).includes(`"signatures":["${spoilt}"`);
      const node = lying(two, (method, answer) =>
        method === 'getTransaction' && isSpoilt(answer) ? spoil(answer) : answer,
      );
      const chain = local.open(node, { marks });
      const [bad, good] = [await newDeposit(chain), await newDeposit(chain)];
      const watch = [bad, good];
      const begin = await chain.cursorAt((await chain.head()).finalHeight);
      spoilt = await payFrom(bad, 9n);
      const txId = await payFrom(good, 8n);
      local.mine(FINAL_BLOCKS);
      const tip = await chain.scan({ level: 'tip', cursor: begin, watch });
      expect(tip).toMatchObject({ transfers: [{ txId }], complete: true });
      const first = await chain.scan({ level: 'final', cursor: begin, watch });
      expect(first).toMatchObject({
        transfers: [{ txId, amount: 8n }],
        complete: true,
        unread: new Set([bad]),
      });
      const isKnown = spoilt;
      spoilt = undefined;
      local.mine(1);
      const second = await chain.scan({ level: 'final', cursor: first.cursor, watch });
      expect(second.transfers).toMatchObject([{ txId: isKnown, amount: 9n }]);
      expect(second.unread).toBeUndefined();
      local.mine(1);
      expect((await chain.scan({ level: 'final', cursor: second.cursor, watch })).transfers).toEqual([]);
    },
  );

  test('an address that is named in more transactions than are read stops no other one', async () => {
    let flooded = '';
    let pages = 0;
    const flood = Array.from({ length: 1_000 }, () => ({
      signature: '1'.repeat(64),
      slot: 1_000_000_000,
      err: null,
    }));
    const node = lying(two, (method, answer, [account]) => {
      if (method !== 'getSignaturesForAddress' || account !== flooded) return answer;
      pages += 1;
      return flood;
    });
    const chain = local.open(node);
    const [bad, good] = [await newDeposit(chain), await newDeposit(chain)];
    flooded = tokenAccountOf(bad, local.mint('USDC'));
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    await payFrom(bad, 9n);
    const txId = await payFrom(good, 8n);
    local.mine(FINAL_BLOCKS);
    const answer = await chain.scan({ level: 'final', cursor: begin, watch: [bad, good] });
    expect(answer).toMatchObject({ transfers: [{ txId }], unread: new Set([bad]) });
    expect(pages).toBeLessThan(20);
  });

  test('what one of two endpoints shows above the slot that both have reached keeps no account from being told', async () => {
    const chain = local.open(two);
    const [still, named, paid] = [await newDeposit(chain), await newDeposit(chain), await newDeposit(chain)];
    const watch = [still, named, paid];
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    const wanted = [await payFrom(still, 1n), await payFrom(named, 2n)];
    local.mine(FINAL_BLOCKS);
    // Final for the first endpoint alone: a transfer of nothing, and one that changes what is held.
    await payFrom(named, 0n);
    const later = await payFrom(paid, 3n);
    local.mine(FINAL_BLOCKS - 1);
    const late = others[0]?.view;
    if (late === undefined) throw new Error('no endpoint');
    late.lag = FINAL_BLOCKS;
    const first = await chain.scan({ level: 'final', cursor: begin, watch });
    expect(first.transfers.map(({ txId }) => txId)).toEqual(wanted);
    expect(first.unread).toEqual(new Set([paid]));
    late.lag = 0;
    const second = await chain.scan({ level: 'final', cursor: first.cursor, watch });
    expect(second.transfers).toMatchObject([{ txId: later, amount: 3n }]);
  });

  test('marks are written by whole scans whose answer is stored: by no page, and by no comparison', async () => {
    const marks = new MemoryMarks();
    const chain = local.open(two, { marks });
    const to = await newDeposit(chain);
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    for (const amount of [1n, 2n]) await payFrom(to, amount);
    local.mine(FINAL_BLOCKS);
    const query = { level: 'final', watch: [to] } as const;
    expect((await chain.scan({ ...query, cursor: begin, isCheck: true })).transfers).toHaveLength(2);
    const page = await chain.scan({ ...query, cursor: begin, limit: 1 });
    const last = await chain.scan({ ...query, cursor: page.cursor });
    expect([page.complete, last.complete, marks.saved]).toEqual([false, true, 0]);
    local.mine(1);
    await chain.scan({ ...query, cursor: last.cursor });
    expect(marks.saved).toBe(1);
  });

  test('what came to an address before the cursor, as nobody asked for it, is told once when it is asked for', async () => {
    const chain = local.open(two, { marks: new MemoryMarks() });
    const [asked, late] = [await newDeposit(chain), await newDeposit(chain)];
    const begin = await chain.cursorAt((await chain.head()).finalHeight);
    for (const amount of [3n, 4n]) await payFrom(late, amount);
    local.mine(FINAL_BLOCKS);
    const first = await chain.scan({ level: 'final', cursor: begin, watch: [asked] });
    local.mine(3);
    const watch = { among: async () => new Set<string>(), each: async () => [asked, late] };
    expect((await chain.scan({ level: 'tip', cursor: first.cursor, watch })).transfers).toHaveLength(2);
    const second = await chain.scan({ level: 'final', cursor: first.cursor, watch });
    expect(second.transfers.map(({ amount }) => amount)).toEqual([3n, 4n]);
    const third = await chain.scan({ level: 'final', cursor: second.cursor, watch });
    expect(third.transfers).toEqual([]);
  });

  test('500 open addresses cost ten calls a look, and an idle look writes nothing', async () => {
    const marks = new MemoryMarks();
    const own = local.endpoints();
    const chain = local.open(own, { marks });
    const watch = await Promise.all(
      Array.from(
        { length: 500 },
        async (_, i) => (await chain.depositAddress({ index: 10_000 + i })).address,
      ),
    );
    const { cursor } = await chain.scan({ level: 'final', cursor: null, watch });
    const { faults } = local.node.endpoint;
    const before = faults.counted();
    await chain.scan({ level: 'tip', cursor, watch });
    expect(faults.counted() - before).toBeLessThanOrEqual(13);
    expect(marks.saved).toBe(0);
    await own.close();
  });

  test('accounts of another mint, and answers for fewer accounts than were asked for, are refused', async () => {
    const to = await newDeposit(local.open(two));
    await payFrom(to, 1n);
    const short = lying(two, (method, answer) =>
      method === 'getMultipleAccounts' ? { ...Object(answer), value: [] } : answer,
    );
    await expect(local.open(short).balance(to, 'USDC', 'tip')).rejects.toThrow('0 accounts, asked for 1');
    const { USDT, USDC } = local.network.tokens;
    const swapped = { USDT: { mint: USDC?.mint ?? '' }, USDC: { mint: USDT?.mint ?? '' } };
    const wrong = local.open(two, { network: { ...local.network, tokens: swapped } });
    // Each account belongs to its mint: under the other name it is another account.
    expect(await wrong.balance(to, 'USDT', 'tip')).toBe(1n);
    expect(await wrong.balance(address(to), 'USDC', 'tip')).toBe(0n);
  });
});

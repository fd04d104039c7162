import { numberToHex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import type { TransferSpec } from '../../../packages/server/src/chains/port/port.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { openEndpoints } from './mandate-world.ts';
import { AMOUNT, FINAL_BLOCKS, fresh, payout, World } from './world.ts';

describe.skipIf(!hasAnvil())('what stands in the way of a payout, before anything is signed', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const ask = (spec: TransferSpec, by = sender) =>
    by.precheck({ kind: 'transfers', asset: spec.asset, transactions: [spec.items] });

  test('nothing, where all is well, and nobody is asked for a signature', async () => {
    const asked = world.signer.requests.length;
    for (const asset of ['USDT', 'USDC'] as const) {
      const spec = payout(asset, fresh(200));
      const found = await ask(spec);
      expect(found).toMatchObject({ refused: null, unpayable: new Set(), isDelegateMissing: false });
      expect(found.allowance).toBeGreaterThanOrEqual(200n * AMOUNT);
      expect(found.native).toBeGreaterThan(found.fees[0] ?? 0n);
    }
    expect(world.signer.requests).toHaveLength(asked);
  });

  test('J6: a paused token', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.pause(asset);
      expect(await ask(payout(asset, fresh(2)))).toMatchObject({ refused: 'token_paused' });
      expect(await sender.precheck({ kind: 'sweeps', asset, transactions: [2] })).toMatchObject({
        refused: 'token_paused',
      });
    }
  });

  test('J6: a blacklisted sender', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.list(asset, world.hot);
      expect(await ask(payout(asset, fresh(2)))).toMatchObject({ refused: 'sender_blacklisted' });
    }
  });

  test('J6: a blacklisted recipient: USDC would refuse it, USDT pays it', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.list(asset, freshAddress(1));
      const spec = payout(asset, fresh(3));
      const listed = asset === 'USDC' ? [spec.items[1]?.itemId] : [];
      expect(await ask(spec)).toMatchObject({ refused: null, unpayable: new Set(listed) });
    }
  });

  test('an address that is none spoils nothing for the others', async () => {
    const spec = payout('USDC', [...fresh(1), { to: 'not an address' }]);
    expect(await ask(spec)).toMatchObject({ refused: null, unpayable: new Set() });
  });

  test('J6: our contract on the blacklist of USDC stops all of it; single transfers go on', async () => {
    const { batchPayout } = world.network();
    const contract: `0x${string}` = `0x${(batchPayout ?? '').slice(2)}`;
    await world.list('USDC', contract);
    await world.list('USDT', contract);
    const spec = payout('USDC', fresh(1));
    expect(await ask(spec)).toMatchObject({ refused: 'contract_blacklisted' });
    expect(await ask(payout('USDT', fresh(1)))).toMatchObject({ refused: null });
    expect(await ask(spec, world.sender({ batchPayout: null }))).toMatchObject({ refused: null });
  });

  test('what our contract may pull; single transfers need nothing', async () => {
    await world.move(sender, { kind: 'approve', asset: 'USDC', amount: 2n * AMOUNT });
    expect(await ask(payout('USDC', fresh(2)))).toMatchObject({ allowance: 2n * AMOUNT });
    const alone = await ask(payout('USDC', fresh(1)), world.sender({ batchPayout: null }));
    expect(alone).toMatchObject({ allowance: null });
  });

  test('what the transactions may cost, as they are then signed', async () => {
    const spec = payout('USDT', fresh(2), { sequence: await world.sequenceOf(world.hot) });
    const { feeLimit } = await sender.buildTransfer(spec);
    await world.client.setBalance({ address: world.hot, value: 5n });
    expect(await ask(spec)).toMatchObject({ native: 5n, fees: [feeLimit] });
  });

  test('J7: one endpoint that invents what the token refuses, hides it, or lags has no say, nor has one that invents an allowance', async () => {
    const { nodes, rpc, close } = await openEndpoints(world, 3);
    const [first] = nodes;
    if (first === undefined) throw new Error('there are three');
    const seen = world.sender({}, world.account, rpc);
    const spec = payout('USDC', fresh(2));
    const lie = (call: string, word: bigint) => {
      const selector = toFunctionSelector(call);
      first.lie = ({ method, params }) =>
        method === 'eth_call' && String(Object(params[0]).data).startsWith(selector)
          ? numberToHex(word, { size: 32 })
          : undefined;
    };
    try {
      lie('isBlacklisted(address)', 1n);
      expect(await ask(spec, seen)).toMatchObject({ refused: null, unpayable: new Set() });
      await world.move(sender, { kind: 'approve', asset: 'USDC', amount: 2n * AMOUNT });
      lie('allowance(address,address)', 2n ** 255n);
      expect(await ask(spec, seen)).toMatchObject({ allowance: 2n * AMOUNT });
      await world.list('USDC', world.hot);
      lie('isBlacklisted(address)', 0n);
      expect(await ask(spec, seen)).toMatchObject({ refused: 'sender_blacklisted' });
      first.behave();
      for (const lag of [1, FINAL_BLOCKS + 2]) {
        first.lag = lag;
        expect(await ask(spec, seen)).toMatchObject({ refused: 'sender_blacklisted' });
      }
    } finally {
      await close();
    }
  });

  test('a token without such functions refuses nothing, whatever codes nodes of different makers have for that', async () => {
    const { nodes, rpc, close } = await openEndpoints(world, 2);
    const codes = [3, -32_000];
    for (const [i, node] of nodes.entries())
      node.refuse = ({ method, params }) =>
        method === 'eth_call' && !String(Object(params[0]).data).startsWith(ALLOWANCE)
          ? { code: codes[i] ?? 0, message: 'execution reverted' }
          : undefined;
    try {
      const found = await ask(payout('USDC', fresh(2)), world.sender({}, world.account, rpc));
      expect(found).toMatchObject({ refused: null, unpayable: new Set() });
    } finally {
      await close();
    }
  });
});

const ALLOWANCE = toFunctionSelector('allowance(address,address)');

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import { ChainUnavailable } from '../../../packages/server/src/chains/port.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { AMOUNT, fresh, payout, World } from './world.ts';

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

  test('nothing, where all is well, and nobody is asked for a signature', async () => {
    const asked = world.signer.requests.length;
    for (const asset of ['USDT', 'USDC'] as const) {
      expect(await sender.precheck(payout(asset, fresh(200)))).toEqual({
        unpayable: Array.from({ length: 200 }, () => null),
        needsApproval: null,
        needsGas: null,
      });
    }
    expect(world.signer.requests).toHaveLength(asked);
  });

  test('J6: a paused token', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.pause(asset);
      const { unpayable } = await sender.precheck(payout(asset, fresh(2)));
      expect(unpayable).toEqual(['token_paused', 'token_paused']);
    }
  });

  test('J6: a blacklisted sender', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.list(asset, world.hot);
      const { unpayable } = await sender.precheck(payout(asset, fresh(2)));
      expect(unpayable).toEqual(['sender_blacklisted', 'sender_blacklisted']);
    }
  });

  test('J6: a blacklisted recipient: USDC would refuse it, USDT pays it', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      await world.list(asset, freshAddress(1));
      const { unpayable } = await sender.precheck(payout(asset, fresh(3)));
      expect(unpayable).toEqual([null, asset === 'USDC' ? 'recipient_blacklisted' : null, null]);
    }
  });

  test('J6: our contract on the blacklist of USDC stops all of it; single transfers go on', async () => {
    const { batchPayout } = world.network();
    const contract: `0x${string}` = `0x${(batchPayout ?? '').slice(2)}`;
    await world.list('USDC', contract);
    await world.list('USDT', contract);
    const spec = payout('USDC', fresh(1));
    expect((await sender.precheck(spec)).unpayable).toEqual(['contract_blacklisted']);
    expect((await sender.precheck(payout('USDT', fresh(1)))).unpayable).toEqual([null]);
    expect((await world.sender({ batchPayout: null }).precheck(spec)).unpayable).toEqual([null]);
  });

  test('an allowance below the sum of what can be paid', async () => {
    await world.move(sender, { kind: 'approve', asset: 'USDC', amount: 2n * AMOUNT });
    expect((await sender.precheck(payout('USDC', fresh(2)))).needsApproval).toBeNull();
    const spec = payout('USDC', fresh(3));
    expect((await sender.precheck(spec)).needsApproval).toEqual({
      allowance: 2n * AMOUNT,
      needed: 3n * AMOUNT,
    });
    await world.list('USDC', freshAddress(1));
    expect((await sender.precheck(spec)).needsApproval).toBeNull();
    expect(
      (await world.sender({ batchPayout: null }).precheck(payout('USDC', fresh(1)))).needsApproval,
    ).toBeNull();
  });

  test('too little ether for what the transaction may cost', async () => {
    const spec = payout('USDT', fresh(2), { sequence: await world.sequenceOf(world.hot) });
    const { feeLimit = 0n } = await sender.buildTransfer(spec);
    await world.client.setBalance({ address: world.hot, value: feeLimit - 1n });
    expect((await sender.precheck(spec)).needsGas).toEqual({ balance: feeLimit - 1n, needed: feeLimit });
    await world.client.setBalance({ address: world.hot, value: feeLimit });
    expect((await sender.precheck(spec)).needsGas).toBeNull();
  });

  test('J7: one node that invents a blacklist fails nobody', async () => {
    const { node } = world;
    const listed = `0x${'1'.padStart(64, '0')}`;
    const lying = {
      call: node.call.bind(node),
      agreed: node.agreed.bind(node),
      agreedMany: node.agreedMany.bind(node),
      newest: node.newest.bind(node),
      callMany: async (requests: readonly unknown[]) => requests.map(() => listed),
    };
    await expect(world.sender({}, 1, lying).precheck(payout('USDC', fresh(2)))).rejects.toThrow(
      ChainUnavailable,
    );
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { AMOUNT, fresh, payout, World } from './world.ts';

const UNKNOWN = { state: 'unknown', final: false };
/** Sixteen blocks behind the newest: no reorganisation here reaches a final block. */
const SLOTS_IN_AN_EPOCH = 8;

describe.skipIf(!hasAnvil())('J5: reorganisations of what was sent on an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start(SLOTS_IN_AN_EPOCH);
    await world.furnish();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const specOf = async () => payout('USDT', fresh(2), { sequence: await world.sequenceOf(world.hot) });
  const received = async () => await world.balance('USDT', freshAddress(0));

  test.for(Array.from({ length: 12 }, (_, i) => i + 1))(
    'J5: %i deep it is unknown again, and the same bytes are mined once',
    async (depth) => {
      const tx = await sender.buildTransfer(await specOf());
      await sender.broadcast(tx);
      await world.mine(depth);
      expect(await sender.status(tx)).toMatchObject({ state: 'included', final: false });
      await world.reorganise(depth);
      expect(await sender.status(tx)).toEqual(UNKNOWN);
      expect(await received()).toBe(0n);
      expect(await world.settle(sender, tx)).toMatchObject({ state: 'final', itemOk: [true, true] });
      expect(await received()).toBe(AMOUNT);
    },
  );

  test('J5: of two versions the other one is mined after a reorganisation, and counts', async () => {
    const spec = await specOf();
    const first = await sender.buildTransfer(spec);
    const second = await sender.buildTransfer({ ...spec, replaces: first });
    await sender.broadcast(second);
    await world.mine(1);
    await world.reorganise(1);
    expect([await sender.status(first), await sender.status(second)]).toEqual([UNKNOWN, UNKNOWN]);
    expect(await world.settle(sender, first)).toMatchObject({ state: 'final', itemOk: [true, true] });
    expect(await sender.status(second)).toMatchObject({ state: 'dead', final: true });
    expect(await received()).toBe(AMOUNT);
  });
});

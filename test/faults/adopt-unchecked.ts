import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import type { World } from './world.ts';

/** Two registered people say that nothing is missing. @returns what the second is told */
export async function adoptUnchecked(world: World) {
  return await world.operate(async (operator) => {
    const merchant = encodeId('merchant', world.merchant.merchantId);
    const [first, second] = world.approvers;
    await operator.ledger.adoptHistory({ unchecked: { merchant, ...first } });
    return await operator.ledger.adoptHistory({ unchecked: { merchant, ...second } });
  });
}

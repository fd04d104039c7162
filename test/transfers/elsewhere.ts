import type { SignedTx } from '../../packages/server/src/chains/port/index.ts';
import { BlockClock } from '../../packages/server/src/chains/simulated/block-clock.ts';
import { buildTransfer } from '../../packages/server/src/chains/simulated/build.ts';
import { walletOf } from '../../packages/server/src/chains/simulated/wallet.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';

/** Bytes on erc20 do not depend on the time. */
const NO_CLOCK = new BlockClock(
  { genesis_at: 0n, height_offset: 0n, settled_height: 0n, settled_at: 0n },
  0,
  { blockSeconds: 1, confirmations: 3 },
);

/** A payment of a merchant's hot wallet to itself, signed outside the service with the same key. */
export function signElsewhere(merchantId: string, sequence: number): SignedTx {
  const id = { merchantId, network: 'erc20' as const };
  const itemId = `elsewhere ${sequence}`;
  const to = walletOf(merchantId, 'erc20', 'hot').address;
  const signing = {
    history: 'none',
    attemptId: newId(),
    ordinal: 0n,
    previous: null,
    before: async () => [],
  };
  const items = [{ itemId, place: 0, to, amount: 1n }];
  const spec = { signing, keyRef: 'hot' as const, asset: 'USDT' as const, groupId: itemId, items };
  return buildTransfer(id, { ...spec, sequence: String(sequence) }, { clock: NO_CLOCK, feeFloor: 0n });
}

import type { Network } from '@florin/contract/money';
import type { Chain, ChainRegistry } from '../chains/index.ts';
import { transact } from '../platform/db/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { MerchantMode } from '../tenancy/index.ts';
import { auditAtOnce } from './audit-job.ts';
import { type FinalBlock, listFinalBlocks, markReplaced, noteFinalBlock } from './final-block-queries.ts';
import { stopNetwork } from './network-stops.ts';

// A block's hash stands for all blocks before it. The hashes of the newest final blocks are kept, so that one look says
// whether anything that was final has changed since, whatever became of the coins in it.

export interface CheckDeps extends Pick<Platform, 'db' | 'clock' | 'log'> {
  chains: ChainRegistry;
}

interface Owner {
  merchantId: string;
  mode: MerchantMode;
  clockOffset: number;
}

/**
 * Compares the final blocks that were noted with the chain. Where one was replaced, the network stops and its audit
 * begins, in one transaction.
 *
 * @param newest a final block to note, by its height: whoever books what lies up to it calls this before
 * @returns false: final blocks were replaced
 * @throws ChainUnavailable
 */
export async function checkFinalBlocks(
  deps: CheckDeps,
  owner: Owner,
  { network, newest }: { network: Network; newest?: bigint },
): Promise<boolean> {
  const { merchantId } = owner;
  const chain = deps.chains.of(owner, network);
  const known = await listFinalBlocks(deps.db, { merchantId, network });
  const isNew = newest !== undefined && newest !== known[0]?.height;
  if (known.length === 0 && !isNew) return true;
  const heights = known.map(({ height }) => height);
  const hashes = await chain.blockHashes(isNew ? [...heights, newest] : heights);
  const replaced = await stillReplaced(chain, replacedOf(known, hashes));
  if (replaced.length > 0) {
    await stop(deps, owner, { network, replaced });
    return false;
  }
  const hash = isNew ? hashes.get(newest) : undefined;
  if (isNew && hash !== undefined)
    await noteFinalBlock(deps.db, { merchantId, network }, { height: newest, hash });
  return true;
}

/** A block that the node does not show proves nothing: it may have fallen behind. */
function replacedOf(known: readonly FinalBlock[], hashes: ReadonlyMap<bigint, string>): FinalBlock[] {
  return known.filter(({ height, hash }) => (hashes.get(height) ?? hash) !== hash);
}

/** One answer may be a slip of the node. */
async function stillReplaced(chain: Chain, blocks: readonly FinalBlock[]): Promise<FinalBlock[]> {
  if (blocks.length === 0) return [];
  return replacedOf(blocks, await chain.blockHashes(blocks.map(({ height }) => height)));
}

async function stop(
  deps: CheckDeps,
  owner: Owner,
  { network, replaced }: { network: Network; replaced: readonly FinalBlock[] },
): Promise<void> {
  const { merchantId } = owner;
  const nowMs = deps.clock.nowMs();
  const nowSeconds = deps.clock.nowSeconds() + owner.clockOffset;
  const heights = replaced.map(({ height }) => height);
  const lowest = heights.reduce((least, height) => (height < least ? height : least));
  const isNews = await transact(deps.db, async (tx) => {
    // Once: a network that a person has resumed does not stop again for the same blocks.
    if ((await markReplaced(tx, { merchantId, network }, replaced, nowSeconds)) === 0) return false;
    const reason = `a reorganisation deeper than finality replaced block ${lowest}`;
    await stopNetwork(tx, owner, network, { reason, nowSeconds });
    await enqueue(tx, [auditAtOnce(merchantId, network, nowMs)]);
    crashPoint('final-blocks.before-commit');
    return true;
  });
  if (!isNews) return;
  const fields = { merchantId, network, height: lowest };
  deps.log.error(fields, 'final blocks were replaced: sending stops (florin networks resume)');
}

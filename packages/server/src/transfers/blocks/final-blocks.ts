import type { Network } from '@florin/contract/money';
import type { ChainRegistry } from '../../chains/index.ts';
import type { Chain, Freshness } from '../../chains/port/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import type { Platform } from '../../platform/platform.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import { auditJobAt } from './audit-job.ts';
import { type FinalBlock, listFinalBlocks, markReplaced, recordFinalBlock } from './final-block-queries.ts';
import { stopNetwork } from './network-stops.ts';

// A block's hash covers all blocks before it. The hashes of the newest final blocks are stored, so that one read, of the newest of them, shows
// whether any has changed since; the others then show how far back.

export interface CheckDeps extends Pick<Platform, 'db' | 'clock' | 'log'> {
  chains: ChainRegistry;
}

interface Owner {
  merchantId: string;
  mode: MerchantMode;
  clockOffset: number;
}

/**
 * Compares the recorded final blocks with the chain. Where one was replaced, the network stops and an audit is enqueued, in
 * one transaction.
 *
 * @param newest height of a final block to record; call this before booking anything up to it
 * @param freshness `now` before something new is sent (`recent`)
 * @returns false where final blocks were replaced
 * @throws ChainUnavailable
 */
export async function checkFinalBlocks(
  deps: CheckDeps,
  owner: Owner,
  { network, newest, freshness }: { network: Network; newest?: bigint; freshness?: Freshness },
): Promise<boolean> {
  const { merchantId } = owner;
  const chain = deps.chains.of(owner, network);
  for (;;) {
    const known = await listFinalBlocks(deps.db, { merchantId, network });
    const intact = known.filter(({ isReplaced }) => !isReplaced);
    const isNew = newest !== undefined && !intact.some(({ height }) => height >= newest);
    if (intact.length === 0 && !isNew) return true;
    const hashes = await readHashes(chain, intact, { more: isNew ? [newest] : [], freshness });
    const replaced = replacedOf(intact, hashes);
    if (replaced.length > 0) {
      await stopAndAudit(deps, owner, { network, replaced });
      return false;
    }
    const block = isNew ? blockToRecord(known, newest, hashes) : undefined;
    if (block === undefined) return true;
    if (await recordFinalBlock(deps.db, { merchantId, network }, block, known)) return true;
    // Somebody else has recorded or marked blocks meanwhile: the hash is compared with those first (decision 70).
  }
}

/** Undefined where the node does not show it, or where a chain of before has come back that is not audited yet. */
function blockToRecord(known: readonly FinalBlock[], height: bigint, hashes: Hashes): FinalBlock | undefined {
  const hash = hashes.get(height);
  if (hash == null || known.some((block) => block.height === height && block.hash === hash)) return undefined;
  return { height, hash };
}

type Hashes = Awaited<ReturnType<Chain['blockHashes']>>;

/** A block that the node does not return proves nothing: the node may lag. One that is null is gone with all after it. */
function replacedOf(known: readonly FinalBlock[], hashes: Hashes): FinalBlock[] {
  return known.filter(({ height, hash }) => {
    const now = hashes.get(height);
    return now !== undefined && now !== hash;
  });
}

/**
 * Of the newest recorded block, which stands for those below it, and of `more`. Where the chain does not plainly show it, of all of them, read
 * once more: a single answer may be wrong, or older than what another process has recorded.
 */
async function readHashes(
  chain: Chain,
  intact: readonly FinalBlock[],
  { more, freshness }: { more: readonly bigint[]; freshness: Freshness | undefined },
): Promise<Hashes> {
  const [newest] = intact;
  const hashes = await chain.blockHashes(newest === undefined ? more : [newest.height, ...more], freshness);
  if (newest === undefined || hashes.get(newest.height) === newest.hash) return hashes;
  return await chain.blockHashes([...intact.map(({ height }) => height), ...more], 'now');
}

async function stopAndAudit(
  deps: CheckDeps,
  owner: Owner,
  { network, replaced }: { network: Network; replaced: readonly FinalBlock[] },
): Promise<void> {
  const { merchantId } = owner;
  const nowMs = deps.clock.nowMs();
  const nowSeconds = deps.clock.nowSeconds() + owner.clockOffset;
  const heights = replaced.map(({ height }) => height);
  const lowest = heights.reduce((least, height) => (height < least ? height : least));
  const isRecorded = await transact(deps.db, async (tx) => {
    // Only once: a resumed network does not stop again for the same blocks.
    if ((await markReplaced(tx, { merchantId, network }, replaced, nowSeconds)) === 0) return false;
    const reason = `a reorganisation deeper than finality replaced or removed block ${lowest}`;
    await stopNetwork(tx, owner, network, { what: 'sending', reason, height: lowest, nowSeconds, nowMs });
    await enqueue(tx, [auditJobAt(merchantId, network, nowMs)]);
    crashPoint('final-blocks.before-commit');
    return true;
  });
  if (!isRecorded) return;
  const fields = { merchantId, network, height: lowest };
  deps.log.error(fields, 'final blocks were replaced: sending stops (florin networks resume)');
}

import type { Network } from '@florin/contract/money';
import type { Merchant } from '../../stores/index.ts';
import type { TransferDeps } from '../send-context.ts';
import { deleteReplacedBlocks, findReplacedBlocks, type ReplacedBlocks } from './final-block-queries.ts';
import { checkFinalBlocks } from './final-blocks.ts';
import { type ChargeBooks, recheckFinal } from './recheck-final.ts';

/** The part of an audit that belongs to modules above this one. */
export interface Auditors {
  /** Compares deposits in final blocks with their credits. @returns how many were checked */
  readDeposits: (blocks: { network: Network; above: bigint; upTo: bigint }) => Promise<number>;
  books: ChargeBooks;
}

/**
 * Compares the newest final blocks again with what was booked from them, in and out, back to before every block that is
 * known to be replaced.
 *
 * @param audit `depth`: how many final blocks to read at least
 * @returns true once there is nothing left to compare; false: call it again later
 * @throws ChainUnavailable
 */
export async function auditFinalBlocks(
  deps: Pick<TransferDeps, 'db' | 'chains' | 'log' | 'clock'>,
  merchant: Merchant,
  { network, depth, nowSeconds }: { network: Network; depth: bigint; nowSeconds: number },
  { readDeposits, books }: Auditors,
): Promise<boolean> {
  const { merchantId } = merchant;
  const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
  await checkFinalBlocks(deps, merchant, { network, newest: upTo });
  const replaced = await findReplacedBlocks(deps.db, { merchantId, network });
  const blocks = { network, above: aboveOf(upTo, depth, replaced), upTo };
  const deposits = await readDeposits(blocks);
  const { known: attempts } = await recheckFinal(deps, merchant, { ...blocks, nowSeconds }, books);
  if (replaced !== undefined) {
    // The new chain has not reached the height of the replaced blocks yet.
    if (replaced.highest > upTo) return false;
    // The new blocks are recorded before the old ones are forgotten.
    if (!(await checkFinalBlocks(deps, merchant, { network, newest: upTo }))) return false;
    await deleteReplacedBlocks(deps.db, { merchantId, network }, replaced);
  }
  return deposits + attempts === 0;
}

/** The height above which to read: below all replaced blocks, and at least `depth` blocks. */
function aboveOf(upTo: bigint, depth: bigint, replaced: ReplacedBlocks | undefined): bigint {
  const usual = upTo - depth;
  if (replaced === undefined) return usual;
  const before = replaced.intact ?? replaced.lowest - depth;
  return before < usual ? before : usual;
}

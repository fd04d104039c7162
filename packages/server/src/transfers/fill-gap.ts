import { type Chain, ChainUnavailable, type SignedTx, SigningRefused } from '../chains/index.ts';
import { transact } from '../platform/db/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { type GapNumbers, numberGap, storeGap } from './final-queries.ts';
import { assertSameHistory, HistoryChanged } from './history.ts';
import { type AttemptRow, signedOf } from './queries.ts';
import { attemptsBefore } from './wallet-queries.ts';
import type { TransferDeps } from './work.ts';

// An attempt that has failed gave its money back. Once its block is gone its sequence is free: all later ones of the
// wallet wait, and whoever kept its bytes can have them mined after all. A payment of one unit to ourselves takes the
// sequence, for a higher fee: then neither is possible. Bytes that expire by themselves hold up nobody.

export async function fillGap(
  deps: Pick<TransferDeps, 'db' | 'log'>,
  chain: Chain,
  attempt: AttemptRow,
): Promise<void> {
  if (attempt.sequence === null) return;
  try {
    const answer = await chain.broadcast(await gapOf(deps, chain, attempt));
    if (answer.result !== 'rejected') return;
    const fields = { tx_id: attempt.tx_id, code: answer.code };
    deps.log.warn(fields, 'a node rejected the payment that takes a sequence; the chain decides');
  } catch (error) {
    if (!isPassing(error)) throw error;
    // Tried again with the next look.
    deps.log.warn({ tx_id: attempt.tx_id, err: error }, 'a sequence cannot be taken for now');
  }
}

const isPassing = (error: unknown) =>
  error instanceof ChainUnavailable || error instanceof HistoryChanged || error instanceof SigningRefused;

/** The same bytes for ever: they are numbered before they are signed, and stored before they are sent. */
async function gapOf(deps: Pick<TransferDeps, 'db'>, chain: Chain, attempt: AttemptRow): Promise<SignedTx> {
  const { attempt_id: itemId, gap_tx_id: txId, gap_raw: raw, sender, sequence, network } = attempt;
  if (txId !== null && raw !== null)
    return { network, txId, raw, sender, itemIds: [itemId], sequence: String(sequence) };
  const built = await chain.buildTransfer({
    keyRef: attempt.key_ref,
    signing: await signingOf(deps, attempt),
    asset: attempt.currency,
    batchId: itemId,
    items: [{ itemId, to: sender, amount: 1n }],
    sequence: String(sequence),
    // Nodes may still hold the old bytes, and a batch or a charge has bid more than one item would.
    replaces: signedOf(attempt),
  });
  const stored = await transact(deps.db, async (tx) => {
    await assertSameHistory(tx);
    const bytes = await storeGap(tx, attempt, built);
    crashPoint('gap.before-commit');
    return bytes;
  });
  return { ...built, ...stored };
}

/** Whoever signs counts the attempts of a wallet, and this is one more. */
async function signingOf(deps: Pick<TransferDeps, 'db'>, attempt: AttemptRow) {
  const { history, numbers } = await transact(deps.db, async (tx) => ({
    history: await assertSameHistory(tx),
    numbers: await numberGap(tx, attempt),
  }));
  const { gapId: attemptId, ordinal, previous }: GapNumbers = numbers;
  const before = (from: bigint | null) => attemptsBefore(deps.db, { ...attempt, ordinal }, from);
  return { history, attemptId, ordinal, previous, before };
}

import {
  type Chain,
  ChainUnavailable,
  type SignedTx,
  SigningBlocked,
  SigningRefused,
} from '../../chains/port/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { versionsOf } from '../attempts/versions.ts';
import { type GapNumbers, numberGap, storeGap } from '../blocks/recheck-queries.ts';
import { assertSameHistory, HistoryChanged } from '../history/history.ts';
import type { AttemptRow } from '../queries.ts';
import type { TransferDeps } from '../send-context.ts';
import { keyOfSender, WalletRotated } from './present-wallet.ts';
import { attemptsBefore } from './wallet-queries.ts';

// The money of a failed attempt went back. Once a reorganisation took its block, its sequence is unused: later sequences of
// the wallet wait for it, and anybody who kept the bytes can have them mined. So an empty payment to ourselves takes the
// sequence, for a higher fee. Bytes that expire need no such payment. A move of a rotated wallet that cannot come into a block any
// more gets one as well, while it is `sent`: once that is final, the move is dead as anything that lost its sequence.

/** Sends a payment to ourselves with the sequence of an attempt that must not pay any more. */
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
    deps.log.warn(fields, 'a node rejected the payment that fills a gap; the chain decides');
  } catch (error) {
    // The next audit tries again; this one goes on, as one gap must not hide what else a reorganisation took.
    const fields = { tx_id: attempt.tx_id, err: error };
    if (error instanceof SigningBlocked)
      deps.log.error(fields, 'the gap in the sequences waits for a person: nothing was signed that fills it');
    else if (isPassing(error)) deps.log.warn(fields, 'the gap in the sequences cannot be filled now');
    else throw error;
  }
}

const isPassing = (error: unknown) =>
  [ChainUnavailable, HistoryChanged, SigningRefused, WalletRotated].some((kind) => error instanceof kind);

/** The stored payment that fills the gap of an attempt; undefined: there is none. */
export function storedGap(attempt: AttemptRow): SignedTx | undefined {
  const { attempt_id: itemId, gap_tx_id: txId, gap_raw: raw, sender, sequence, network } = attempt;
  if (txId === null || raw === null) return undefined;
  return { network, txId, raw, sender, itemIds: [attempt.gap_id ?? itemId], sequence: String(sequence) };
}

/** Always the same bytes: they are numbered before they are signed, and stored before they are sent. */
async function gapOf(deps: Pick<TransferDeps, 'db'>, chain: Chain, attempt: AttemptRow): Promise<SignedTx> {
  const known = storedGap(attempt);
  if (known !== undefined) return known;
  const { sequence } = attempt;
  const replaces = (await versionsOf(deps.db, attempt)).at(-1);
  const built = await chain.buildMovement({
    keyRef: await keyOfSender(chain, attempt),
    signing: await signingOf(deps, attempt),
    movement: { kind: 'fill' },
    sequence: String(sequence),
    // Nodes may still hold the old bytes, whose fee is higher than that of an empty payment.
    ...(replaces === undefined ? {} : { replaces }),
  });
  const stored = await transact(deps.db, async (tx) => {
    await assertSameHistory(tx);
    const bytes = await storeGap(tx, attempt, built);
    crashPoint('gap.before-commit');
    return bytes;
  });
  return { ...built, ...stored };
}

/** The holder numbers the attempts of a wallet, and this payment is one of them. */
async function signingOf(deps: Pick<TransferDeps, 'db'>, attempt: AttemptRow) {
  const { history, numbers } = await transact(deps.db, async (tx) => ({
    history: await assertSameHistory(tx),
    numbers: await numberGap(tx, attempt),
  }));
  const { gapId: attemptId, ordinal, previous }: GapNumbers = numbers;
  const before = (from: bigint | null) => attemptsBefore(deps.db, { ...attempt, ordinal }, from);
  return { history, attemptId, ordinal, previous, before };
}

import {
  ChainUnavailable,
  SignerUnavailable,
  SigningBlocked,
  UnbuildableTransfer,
} from '../../chains/port/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { keepSignerJournal } from '../approvals/signer-journal.ts';
import { assertSameHistory } from '../history/history.ts';
import { type AttemptRow, readTransfers, signedOf, TANK_KEY_REF } from '../queries.ts';
import { callForEach, type SendContext } from '../send-context.ts';
import { readFirstOrdinal } from '../wallets/wallet-queries.ts';
import { buildAttempt } from './build-attempt.ts';
import { movementOf, paysNobody } from './movements.ts';
import { decideReplacement, REPLACE_AFTER_SECONDS } from './version-rules.ts';
import { storeVersion } from './versions.ts';
import { broadcast } from './watch-attempts.ts';

/**
 * Replaces sent attempts that no block takes, by the same payments for a higher fee. Where that fails they are watched as
 * they are.
 *
 * @param waiting sent attempts of which no version is in a block
 * @throws HistoryChanged, SigningRefused, ChainUnavailable
 */
export async function replaceStuck(context: SendContext, waiting: readonly AttemptRow[]): Promise<void> {
  if (!context.chain.capabilities.replaceByFee) return;
  const stuck: AttemptRow[] = [];
  for (const attempt of waiting.filter((one) => sentFor(context, one) >= REPLACE_AFTER_SECONDS))
    if (await isToReplace(context, attempt)) stuck.push(attempt);
  if (stuck.length === 0) return;
  const { deps, merchant, groupIds } = context;
  const history = await assertSameHistory(deps.db);
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  await callForEach(context, stuck, async (attempt) => {
    // The holder knows this number of another history by another attempt.
    if ((attempt.ordinal ?? -1n) < (await readFirstOrdinal(deps.db, attempt))) return;
    try {
      const replaces = signedOf(attempt);
      const signed = await buildAttempt(context, { attempt, history, replaces }, transfers);
      if (signed.txId === replaces.txId) return;
      await storeAndSend(context, attempt, signed);
    } catch (error) {
      const isToWait = [SigningBlocked, SignerUnavailable, UnbuildableTransfer].some(
        (kind) => error instanceof kind,
      );
      if (!isToWait) throw error;
      const fields = { attempt_id: attempt.attempt_id, tx_id: attempt.tx_id, err: error };
      deps.log.error(fields, 'a stuck transaction cannot be replaced: it waits for lower fees');
    }
  });
}

const sentFor = ({ nowSeconds }: SendContext, { sent_at: sentAt }: AttemptRow) =>
  sentAt === null ? 0 : nowSeconds - Number(sentAt);

function feeKindOf({ isCharge }: SendContext, attempt: AttemptRow) {
  if (paysNobody(attempt)) {
    const movement = movementOf(attempt);
    if (movement.kind === 'activate' && movement.permit !== undefined) return 'permit';
    // Native coin moves as a top-up does.
    return movement.kind === 'move' && movement.asset === null ? 'gas' : movement.kind;
  }
  if (attempt.key_ref === TANK_KEY_REF) return 'sweep';
  return isCharge ? 'charge' : 'transfer';
}

async function isToReplace(context: SendContext, attempt: AttemptRow): Promise<boolean> {
  const { chain, deps } = context;
  if (attempt.fee_limit === null) return false;
  const { native, atLimit } = await chain.estimateFee(feeKindOf(context, attempt), attempt.item_ids.length);
  const decision = decideReplacement({
    sentFor: sentFor(context, attempt),
    versions: attempt.versions,
    feeLimit: BigInt(attempt.fee_limit),
    presentFee: atLimit ?? native,
  });
  if (decision === 'alarm')
    deps.log.error(
      { attempt_id: attempt.attempt_id, tx_id: attempt.tx_id, versions: attempt.versions },
      'a transaction was replaced as often as it may be, and is still in no block',
    );
  return decision === 'replace';
}

/** Stored before they are sent: after a crash the stored bytes are sent, as those of any version. */
async function storeAndSend(
  context: SendContext,
  attempt: AttemptRow,
  signed: ReturnType<typeof signedOf>,
): Promise<void> {
  crashPoint('version.before');
  const isStored = await context.run.step(async (tx) => {
    await assertSameHistory(tx);
    const done = await storeVersion(tx, attempt, signed, context.nowSeconds);
    crashPoint('version.before-commit');
    return done;
  });
  crashPoint('version.after-commit');
  await keepSignerJournal(context.deps.db, context.deps.chains, context.merchant);
  if (!isStored) return;
  context.deps.log.warn(
    { attempt_id: attempt.attempt_id, replaced: attempt.tx_id, tx_id: signed.txId },
    'a stuck transaction is replaced for a higher fee',
  );
  const { unavailable } = await broadcast(context, signed);
  if (unavailable instanceof ChainUnavailable) throw unavailable;
}

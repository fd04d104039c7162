import { ChargeRefused, UnservedMandate } from '../../chains/charges/index.ts';
import {
  type Authority,
  depositIndexOf,
  type SignedTx,
  SigningBlocked,
  UnbuildableTransfer,
} from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { keepSignerJournal, readSignerJournal } from '../approvals/signer-journal.ts';
import { decidingRefusal } from '../blocked-by.ts';
import { findSignature } from '../charges/activations.ts';
import { chargeOf } from '../charges/charges.ts';
import { assertSameHistory } from '../history/history.ts';
import {
  type AttemptRow,
  readOpenAttempts,
  readTransfers,
  storeSigned,
  TANK_KEY_REF,
  type TransferRow,
} from '../queries.ts';
import { callForEach, type SendContext } from '../send-context.ts';
import { isPausing, judgeRefused, judgeUnbuildable } from '../states.ts';
import { assertNoticed, keyOfSender } from '../wallets/present-wallet.ts';
import { attemptsBefore } from '../wallets/wallet-queries.ts';
import { abandonWithTransfers, lockWalletOf } from './abandon-attempt.ts';
import { type BlockedAttempt, stepAside } from './blocked-attempts.ts';
import { letOthersTry } from './given-way.ts';
import { holdShare } from './hold-share.ts';
import { isFill, movementOf, paysNobody } from './movements.ts';

/** Wallets are locked in one order, as where attempts are reserved: by their addresses, and then the gas tank. */
const byWallet = (a: AttemptRow, b: AttemptRow) =>
  Number(a.key_ref === TANK_KEY_REF) - Number(b.key_ref === TANK_KEY_REF) ||
  (a.sender < b.sender ? -1 : Number(a.sender > b.sender));

type Built =
  | { attempt: AttemptRow; signed: SignedTx }
  | { attempt: AttemptRow; fault: UnbuildableTransfer | ChargeRefused }
  | BlockedAttempt;

/** How far the signatures got. */
export interface Signatures {
  /** Why the signer waits for people with some, where it does. */
  blocked: SigningBlocked | undefined;
  /** Some are not asked for yet, as it has just refused them. */
  arePausing: boolean;
}

/**
 * Builds and signs the reserved attempts, and stores their bytes before they are sent.
 *
 * @throws HistoryChanged, WalletRotated, SigningRefused, SignerUnavailable
 */
export async function signReserved(context: SendContext): Promise<Signatures> {
  const { deps, run, merchant, groupIds, nowSeconds } = context;
  // A copy that has been detected must not request signatures: each would take a number of the original.
  context.history.name ??= await assertSameHistory(deps.db);
  const history = context.history.name;
  // Read after the history: an adoption writes its name and new numbers in one commit, and to the holder an old number
  // under the new name would be another attempt.
  const open = await readOpenAttempts(deps.db, merchant.merchantId, groupIds);
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  // Recipients are not screened again: the holder may have given the bytes out to a process that died, or to the original
  // of this database. Another attempt would then pay the rest of a batch twice.
  const unsigned = open.filter(({ status }) => status === 'reserved');
  const due = unsigned.filter((attempt) => !isPausing(timesOf(attempt), nowSeconds)).toSorted(byWallet);
  const { ready: reserved, blocked: short } = await holdShare(context, due);
  const arePausing = reserved.length < unsigned.length;
  if (reserved.length === 0) return { blocked: short, arePausing };
  await assertNoticed(deps.db, context);
  const built = await callForEach(context, reserved, (attempt) =>
    build(context, { attempt, history }, transfers),
  );
  const blocked = built.filter((one) => 'blocked' in one);
  crashPoint('build.after');
  await run.step(async (tx) => {
    await assertSameHistory(tx);
    for (const one of built) if ('fault' in one) await abandonUnbuildable(tx, context, one, transfers);
    const signed = built.flatMap((one) => ('signed' in one ? [one] : []));
    await storeSigned(
      tx,
      merchant.merchantId,
      signed.map((one) => ({ attemptId: one.attempt.attempt_id, signed: one.signed })),
    );
    await stepAside(tx, context, blocked, transfers);
    const attempts = signed.map(({ attempt }) => attempt);
    if (context.isCharge) await letOthersTry(tx, context, attempts, transfers);
    crashPoint('store.before-commit');
  });
  crashPoint('store.after-commit');
  await keepSignerJournal(deps.db, deps.chains, merchant);
  const refusals = blocked.map((one) => one.blocked);
  return { blocked: decidingRefusal(short === undefined ? refusals : [...refusals, short]), arePausing };
}

const timesOf = ({ refused_at: refusedAt, created_at: createdAt }: AttemptRow) => ({
  refusedAt: refusedAt === null ? null : Number(refusedAt),
  createdAt: Number(createdAt),
});

async function build(
  context: SendContext,
  { attempt, history }: { attempt: AttemptRow; history: string },
  transfers: readonly TransferRow[],
): Promise<Built> {
  try {
    return { attempt, signed: await buildAttempt(context, { attempt, history }, transfers) };
  } catch (error) {
    if (error instanceof SigningBlocked) return { attempt, blocked: error };
    if (error instanceof UnservedMandate)
      return { attempt, blocked: new SigningBlocked(attempt.network, 'policy', error.message) };
    // A fill that cannot be built is a bug and fails the job. So does a transaction of a deposit address, which has no gas.
    const isUnfillable = isFill(attempt) || depositIndexOf(attempt.key_ref) !== null;
    const isFault = error instanceof UnbuildableTransfer || error instanceof ChargeRefused;
    if (!isFault || isUnfillable) throw error;
    const { attempt_id: attemptId, group_id: groupId } = attempt;
    const fields = { attempt_id: attemptId, group_id: groupId, err: error };
    context.deps.log.error(fields, 'a transaction cannot be built');
    return { attempt, fault: error };
  }
}

async function abandonUnbuildable(
  tx: Tx,
  context: SendContext,
  { attempt, fault }: { attempt: AttemptRow; fault: UnbuildableTransfer | ChargeRefused },
  transfers: readonly TransferRow[],
): Promise<void> {
  const { isCharge } = context;
  const transferIds = paysNobody(attempt) ? [] : attempt.item_ids;
  const carried = transferIds.map((transferId) => ({ transferId, isCharge }));
  const verdicts =
    fault instanceof ChargeRefused
      ? judgeRefused(transferIds, fault)
      : judgeUnbuildable(carried, fault.message);
  await lockWalletOf(tx, attempt);
  await abandonWithTransfers(tx, context, { attempt, verdicts, detail: fault.message }, transfers);
}

/**
 * Builds and signs an attempt.
 *
 * @param transfers those of its group
 * @throws UnbuildableTransfer, ChargeRefused, SigningRefused, SigningBlocked, WalletRotated, ChainUnavailable
 */
export async function buildAttempt(
  { deps, merchant, chain, isCharge }: SendContext,
  { attempt, history, replaces }: { attempt: AttemptRow; history: string; replaces?: SignedTx | undefined },
  transfers: readonly TransferRow[],
): Promise<SignedTx> {
  const { attempt_id: attemptId, group_id: groupId, sequence, ordinal } = attempt;
  const keyRef = await keyOfSender(chain, attempt);
  if (ordinal === null) throw new Error('an attempt that is signed has an ordinal');
  const before = (from: bigint | null) => attemptsBefore(deps.db, { ...attempt, ordinal }, from);
  const journal = await readSignerJournal(deps.db, merchant);
  const signing = { history, attemptId, ordinal, previous: attempt.previous_id, before, journal };
  const version = replaces === undefined ? {} : { replaces };
  const by = { keyRef, signing, ...version };
  const numbered = sequence === null ? by : { ...by, sequence: String(sequence) };
  if (paysNobody(attempt)) return await chain.buildMovement({ ...numbered, movement: movementOf(attempt) });
  const carried = transfersOf(attempt, transfers);
  if (isCharge) {
    const charge = onlyCharge(carried);
    const signature = await findSignature(deps.db, merchant.merchantId, chain, charge.mandate);
    return await chain.buildCharge({ ...numbered, ...charge, ...(signature !== undefined && { signature }) });
  }
  if (keyRef === TANK_KEY_REF)
    return await chain.buildSweep({ ...by, items: carried.map(sweepItemOf), sequence: String(sequence) });
  const items = carried.map(itemOf);
  const authority = await authorityOf({ deps, merchant }, carried);
  const allowed = authority === undefined ? {} : { authority };
  return await chain.buildTransfer({ ...numbered, ...allowed, asset: attempt.currency, groupId, items });
}

/** A signer asks for it; the keys of a sandbox merchant lie with its simulated chains, which ask for nothing. */
async function authorityOf(
  { deps, merchant }: Pick<SendContext, 'deps' | 'merchant'>,
  [first]: readonly TransferRow[],
): Promise<Authority | undefined> {
  if (merchant.mode === 'sandbox' || first === undefined) return undefined;
  const { owner_type: ownerType, group_id: groupId } = first;
  return await deps.findAuthority(deps.db, merchant.merchantId, { ownerType, groupId });
}

function transfersOf(attempt: AttemptRow, transfers: readonly TransferRow[]): TransferRow[] {
  const byId = new Map(transfers.map((transfer) => [transfer.transfer_id, transfer]));
  return attempt.item_ids.map((id) => {
    const transfer = byId.get(id);
    if (transfer === undefined) throw new Error('an attempt has a transfer that is not in its group');
    return transfer;
  });
}

const itemOf = ({ transfer_id: itemId, place, address: to, amount, memo }: TransferRow) => ({
  itemId,
  place,
  to,
  amount,
  ...(memo === null ? {} : { memo }),
});

function sweepItemOf({ transfer_id: itemId, key_ref: keyRef, currency: asset, amount }: TransferRow) {
  const index = depositIndexOf(keyRef);
  if (index === null) throw new Error('a sweep takes from deposit addresses alone');
  return { itemId, index, asset, amount };
}

function onlyCharge([transfer, ...others]: readonly TransferRow[]) {
  if (transfer?.charge == null || others.length > 0)
    throw new Error('a charge must be alone in its transaction');
  return { ...chargeOf(transfer.charge), chargeId: transfer.transfer_id, amount: transfer.amount };
}

import {
  type Precheck,
  type RotatedKeyRef,
  type RotationFacts,
  WEI_PER_UNIT,
} from '../../chains/port/index.ts';
import { isLineDue } from '../../platform/observability/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { listHeldKeys } from '../attempts/blocked-attempts.ts';
import { movementOf, readTankUse, reserveMovement } from '../attempts/movements.ts';
import { assertSameHistory } from '../history/history.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import { type AttemptRow, TANK_KEY_REF } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { REPLACE_AFTER_SECONDS, secondsSince } from '../states.ts';
import { fillGap } from '../wallets/fill-gap.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { lockWallet } from '../wallets/wallet-queries.ts';
import { type CoverStep, coverMoves } from './decide.ts';
import { logRotationWait } from './log-wait.ts';
import { isGettingGas, sumGiven } from './queries.ts';

/** Transactions of one rotated wallet, for one rotation. */
interface Uncovered {
  keyRef: RotatedKeyRef;
  sender: string;
  attempts: readonly AttemptRow[];
}

/**
 * Orders ether for transactions of rotated wallets that these cannot pay, as fees have risen since they were decided, and gives up moves of
 * ether that was taken.
 *
 * @param waiting sent attempts of which no version is in a block
 * @throws HistoryChanged, WalletRotated, FeeCeilingReached, ChainUnavailable
 */
export async function coverSignedMoves(context: SendContext, waiting: readonly AttemptRow[]): Promise<void> {
  const ofRotated = waiting.filter(({ key_ref: keyRef }) => isRotated(keyRef));
  for (const attempts of Map.groupBy(ofRotated, ({ sender, group_id: id }) => `${sender} ${id}`).values()) {
    const [first] = attempts;
    if (first === undefined || !isRotated(first.key_ref)) continue;
    await coverWallet(context, { keyRef: first.key_ref, sender: first.sender, attempts });
  }
}

const isRotated = (keyRef: AttemptRow['key_ref']): keyRef is RotatedKeyRef => keyRef.startsWith('hot:');

const costOf = (attempts: readonly AttemptRow[]) => ({
  fees: attempts.reduce((total, { fee_limit: most }) => total + BigInt(most ?? 0), 0n),
  moved: attempts.reduce((total, attempt) => total + etherIn(attempt), 0n),
});

/** An empty payment in its place moves none. */
function etherIn(attempt: AttemptRow): bigint {
  const movement = movementOf(attempt);
  if (attempt.gap_raw !== null) return 0n;
  return movement.kind === 'move' && movement.asset === null ? movement.amount : 0n;
}

async function coverWallet(context: SendContext, { keyRef, sender, attempts }: Uncovered): Promise<void> {
  const { chain, deps } = context;
  const [first] = attempts;
  if (first === undefined) return;
  const all = costOf(attempts);
  if ((await chain.nativeBalance(sender)) >= all.fees + all.moved) return;
  // The tank first: ether that comes meanwhile is counted as on its way. The wallet's sequence last: what a block takes meanwhile
  // has paid its fee, and is not covered a second time.
  const precheck = await chain.precheck({ kind: 'transfers', asset: first.currency, transactions: [] });
  const chainNext = precheck?.tank.nextSequence;
  if (precheck === null || chainNext == null) return;
  const native = await chain.nativeBalance(sender);
  const next = BigInt((await chain.nextSequence(sender)) ?? 0);
  const open = attempts.filter(({ sequence }) => (sequence ?? 0n) >= next);
  const tank = { ...precheck.tank, nextSequence: chainNext };
  const step = await orderCover(context, {
    keyRef,
    sender,
    first,
    precheck: { ...precheck, tank },
    native,
    open,
  });
  const rotation = {
    merchant_id: first.merchant_id,
    rotation_id: first.group_id,
    network: chain.network,
  };
  if (step?.do === 'wait') logRotationWait(deps, rotation, step.reason);
  if (step?.do !== 'fill') return;
  // A balance may be of a node that is behind: ether is believed to be taken once nothing has taken the move for a while.
  const isOld = ({ sent_at: at }: AttemptRow) =>
    secondsSince(context.nowSeconds, Number(at ?? context.nowSeconds)) >= REPLACE_AFTER_SECONDS;
  const left = open.filter((attempt) => etherIn(attempt) > 0n && (!step.isTaken || isOld(attempt)));
  for (const attempt of left) await giveUp(context, attempt, { native, isTaken: step.isTaken });
}

interface Cover {
  keyRef: RotatedKeyRef;
  sender: string;
  first: AttemptRow;
  precheck: Pick<Precheck, 'movementFees'> & { tank: RotationFacts['tank'] };
  native: bigint;
  open: readonly AttemptRow[];
}

/** Decides under the locks of the wallet and the tank, and orders the ether where that is the step. */
async function orderCover(
  context: SendContext,
  { keyRef, sender, first, precheck, native, open }: Cover,
): Promise<CoverStep | undefined> {
  const { chain, run, merchant, nowSeconds } = context;
  const { tank, movementFees } = precheck;
  const facts = { tank, fees: { plain: movementFees.gas } };
  const tankWallet = { network: chain.network, sender: tank.address, chainNext: tank.nextSequence };
  const of = { merchant_id: merchant.merchantId, rotation_id: first.group_id };
  return await run.step(async (tx): Promise<CoverStep | undefined> => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, context, true);
    // Whoever has the old key may have used its sequences: what the chain has says nothing of this database.
    await lockWallet(tx, { network: chain.network, sender, chainNext: null });
    if (await isGettingGas(tx, of, { to: keyRef, tank: tankWallet })) return undefined;
    const { gasCeiling } = await readSettings(tx, merchant, TRANSFER_SETTINGS);
    await lockWallet(tx, tankWallet);
    const limits = {
      gasCeiling: gasCeiling * WEI_PER_UNIT,
      given: await sumGiven(tx, of),
      ...(await readTankUse(tx, tankWallet, movementFees.deploy)),
      held: await listHeldKeys(tx, context, [first.group_id]),
    };
    const decided = coverMoves(facts, limits, { keyRef, native, ...costOf(open) });
    if (decided?.do !== 'move') return decided;
    const order = { merchantId: merchant.merchantId, groupId: first.group_id, currency: first.currency };
    const { movement } = decided;
    await reserveMovement(tx, { ...order, keyRef: TANK_KEY_REF, wallet: tankWallet, movement }, nowSeconds);
    return decided;
  });
}

/**
 * Has an empty payment take the sequence of a move of ether that its wallet cannot pay. The move stays sent, and is dead once that is
 * final: where somebody brings the ether back before, it may still be the one that comes into a block.
 */
async function giveUp(
  { deps, chain }: SendContext,
  attempt: AttemptRow,
  { native, isTaken }: { native: bigint; isTaken: boolean },
): Promise<void> {
  const { merchant_id: merchantId, attempt_id, tx_id, sender, network } = attempt;
  const amounts = { moved: String(etherIn(attempt)), held: String(native) };
  const fields = { merchantId, network, attempt_id, tx_id, sender, ...amounts };
  if (isTaken && isLineDue(deps.log, `ether taken ${attempt_id}`))
    deps.log.error(
      { ...fields, event: 'ether_taken' },
      'a rotated wallet does not hold the ether that it was to hand over: whoever has its key has taken it, and the move is given up',
    );
  if (!isTaken)
    deps.log.warn(
      fields,
      'a rotated wallet cannot pay for a move of its ether at present fees: it is given up',
    );
  await fillGap(deps, chain, attempt);
}

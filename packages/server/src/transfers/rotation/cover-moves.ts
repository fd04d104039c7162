import { type RotatedKeyRef, WEI_PER_UNIT } from '../../chains/port/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { isBlocked } from '../attempts/blocked-attempts.ts';
import { movementOf, reserveMovement, sumTankSpending } from '../attempts/movements.ts';
import { assertSameHistory } from '../history/history.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import { type AttemptRow, TANK_KEY_REF } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { lockWallet } from '../wallets/wallet-queries.ts';
import { coverMoves, type RotationStep } from './decide.ts';
import { logRotationWait } from './log-wait.ts';
import { isGettingGas, sumGiven } from './queries.ts';

/** Transactions of one rotated wallet, for one rotation. */
interface Uncovered {
  keyRef: RotatedKeyRef;
  sender: string;
  attempts: readonly AttemptRow[];
}

/**
 * Orders ether for transactions of rotated wallets that these cannot pay: fees have risen since they were decided.
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

function etherIn(attempt: AttemptRow): bigint {
  const movement = movementOf(attempt);
  return movement.kind === 'move' && movement.asset === null ? movement.amount : 0n;
}

async function coverWallet(context: SendContext, { keyRef, sender, attempts }: Uncovered): Promise<void> {
  const { chain, run, deps, merchant } = context;
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
  const { tank, movementFees } = precheck;
  const facts = { tank: { ...tank, nextSequence: chainNext }, fees: { plain: movementFees.gas } };
  const tankWallet = { network: chain.network, sender: tank.address, chainNext };
  const rotation = {
    merchant_id: merchant.merchantId,
    rotation_id: first.group_id,
    network: chain.network,
  };
  const step = await run.step(async (tx): Promise<RotationStep | undefined> => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, context, true);
    // Whoever has the old key may have used its sequences: what the chain has says nothing of this database.
    await lockWallet(tx, { network: chain.network, sender, chainNext: null });
    // The signer has refused a top-up: another one would take a sequence of the tank and be filled, each time.
    if (await isBlocked(tx, context, [first.group_id])) return undefined;
    if (await isGettingGas(tx, rotation, { to: keyRef, tank: tankWallet })) return undefined;
    const { gasCeiling } = await readSettings(tx, merchant, TRANSFER_SETTINGS);
    await lockWallet(tx, tankWallet);
    const limits = {
      gasCeiling: gasCeiling * WEI_PER_UNIT,
      given: await sumGiven(tx, rotation),
      tankSpending: await sumTankSpending(tx, tankWallet, movementFees.deploy),
    };
    const decided = coverMoves(facts, limits, { keyRef, native, ...costOf(open) });
    if (decided?.do !== 'move') return decided;
    const order = { merchantId: merchant.merchantId, groupId: first.group_id, currency: first.currency };
    const { movement } = decided;
    await reserveMovement(
      tx,
      { ...order, keyRef: TANK_KEY_REF, wallet: tankWallet, movement },
      context.nowSeconds,
    );
    return decided;
  });
  if (step?.do === 'wait') logRotationWait(deps, rotation, step.reason);
}

import { UnservedMandate } from '../../chains/charges/index.ts';
import {
  type Chain,
  ChainUnavailable,
  type ChargesPrecheck,
  type SignedMandate,
  SigningBlocked,
  UnbuildableTransfer,
} from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import { isBlocked } from '../attempts/blocked-attempts.ts';
import {
  type ActivationFault,
  type ActivationStep,
  type FinalMandate,
  isUnapproved,
  nextActivationStep,
} from '../attempts/charge-readiness.ts';
import { countFailedActivations, isActivating, reserveMovement } from '../attempts/movements.ts';
import type { Reserved } from '../attempts/reserve-attempts.ts';
import { assertSameHistory } from '../history/history.ts';
import { HOT_KEY_REF, TANK_KEY_REF } from '../queries.ts';
import { decidedJob } from '../request-transfers.ts';
import type { SendContext } from '../send-context.ts';
import { tankOf } from '../wallets/prepare-wallet.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { readWallet, type Wallet } from '../wallets/wallet-queries.ts';
import { type ActivationRow, endActivation, lockOpenActivation, noteApproval } from './activations.ts';
import { decideUnderLocks } from './charge-needs.ts';
import { mandateOf, permitOf } from './charges.ts';

export const MANDATE_DECIDED_JOB = decidedJob('mandate');

/** What the chain says of a mandate, read after the hot wallet's sequence. */
interface Seen {
  hot: Wallet;
  final: FinalMandate;
  /** A string: why it can never be activated. */
  precheck: ChargesPrecheck | ActivationFault | null;
}

/**
 * Takes the next step of an activation: the merchant's account, ether, the mandate itself; or ends it. Each is a movement of
 * its group.
 *
 * @throws WalletBehind, HistoryChanged, FeeCeilingReached, ChainUnavailable
 */
export async function advanceActivation(context: SendContext, activation: ActivationRow): Promise<Reserved> {
  const seen = await readMandateOnChain(context.chain, activation);
  crashPoint('activate.before');
  const reserved = await context.run.step(async (tx): Promise<Reserved> => {
    context.history.name = await assertSameHistory(tx);
    await assertPresentWallet(tx, context);
    const { merchantId } = context.merchant;
    const open = await lockOpenActivation(tx, merchantId, activation.activation_id);
    if (open === undefined) return { reached: 'all' };
    if (await isBlocked(tx, context, open.activation_id))
      return { reached: 'waiting', waitsFor: 'wait_activate' };
    const step = await decide(tx, context, { open, seen });
    if (step.do === 'wait') return { reached: 'waiting', waitsFor: step.reason };
    if (step.do === 'end') {
      await end(tx, context, { open, as: step.as });
      return { reached: 'all' };
    }
    await reserveStep(tx, context, { open, seen, step });
    crashPoint('activate.before-commit');
    return { reached: 'waiting', waitsFor: 'wait_activate' };
  });
  crashPoint('activate.after-commit');
  return reserved;
}

const signedMandateOf = ({ mandate, signature, permit }: ActivationRow): SignedMandate => ({
  mandate: mandateOf(mandate),
  signature,
  ...(permit === null ? {} : { permit: permitOf(permit) }),
});

async function readMandateOnChain(chain: Chain, activation: ActivationRow) {
  const signed = signedMandateOf(activation);
  const hot = await readWallet(chain, HOT_KEY_REF);
  const [state] = (await chain.mandateStates([signed.mandate])).states;
  if (state === undefined) throw new ChainUnavailable(chain.network, 'a mandate cannot be read');
  const final = state.state;
  try {
    const request = { asset: activation.currency, charges: [], activation: signed };
    const precheck = await chain.precheckCharges(request);
    return { hot, final, precheck } satisfies Seen;
  } catch (error) {
    if (error instanceof UnservedMandate) throw new SigningBlocked(chain.network, 'policy', error.message);
    if (!(error instanceof UnbuildableTransfer)) throw error;
    return { hot, final, precheck: 'signature_refused' } satisfies Seen;
  }
}

async function decide(
  tx: Tx,
  context: SendContext,
  { open, seen: { hot, final, precheck } }: { open: ActivationRow; seen: Seen },
): Promise<ActivationStep> {
  // A network that wants nothing beforehand has it at once.
  if (precheck === null) return { do: 'end', as: 'active' };
  if (typeof precheck === 'string') return { do: 'end', as: precheck };
  const { activation } = precheck;
  if (activation === null) throw new Error('a precheck of an activation tells of it');
  const of = { hot, precheck, currency: open.currency };
  const approval = {
    isMissing: precheck.missing.has(open.mandate_id),
    activation: {
      ...activation,
      permitted: open.permit === null ? 0n : BigInt(open.permit.amount),
      // A page asks for twice the price.
      needed: BigInt(open.mandate.cap) / 2n,
    },
  };
  const about = {
    final,
    ...approval,
    simulationSucceeded: open.charge_passed,
    isActivating: await isActivating(tx, context.merchant.merchantId, { hot, mandateId: open.mandate_id }),
    ...(await countFailedActivations(tx, context.merchant.merchantId, open.activation_id)),
    unapprovedSeconds: await noteApproval(tx, open, {
      isUnapproved: isUnapproved(approval),
      now: context.nowSeconds,
    }),
    ageSeconds: context.nowSeconds - Number(open.created_at),
  };
  return await decideUnderLocks(tx, context, of, (needs) => nextActivationStep({ ...needs, ...about }));
}

async function reserveStep(
  tx: Tx,
  { merchant, nowSeconds }: SendContext,
  {
    open,
    seen: { hot, precheck },
    step,
  }: { open: ActivationRow; seen: Seen; step: Extract<ActivationStep, { do: 'move' }> },
): Promise<void> {
  if (precheck === null || typeof precheck === 'string') return;
  const { activation_id: groupId, network, currency } = open;
  const { movement } = step;
  const mover =
    step.by === 'tank'
      ? { keyRef: TANK_KEY_REF, wallet: tankOf(network, precheck) }
      : { keyRef: HOT_KEY_REF, wallet: hot };
  const whole = movement.kind === 'activate' ? activationOf(open, movement) : movement;
  const { merchantId } = merchant;
  await reserveMovement(tx, { merchantId, groupId, currency, movement: whole, ...mover }, nowSeconds);
}

/** A permit that is no good any more, or not needed, is left out: the collector would try it, and it would cost. */
function activationOf(open: ActivationRow, { hasPermit }: { hasPermit: boolean }) {
  const { permit, ...signed } = signedMandateOf(open);
  return { kind: 'activate' as const, ...signed, ...(hasPermit && permit !== undefined ? { permit } : {}) };
}

async function end(
  tx: Tx,
  { deps, merchant: { merchantId }, nowSeconds }: SendContext,
  { open, as }: { open: ActivationRow; as: 'active' | ActivationFault },
): Promise<void> {
  await endActivation(tx, open, as, nowSeconds);
  const { activation_id: groupId } = open;
  const dueAtMs = deps.clock.nowMs();
  await enqueue(tx, [
    { merchantId, kind: MANDATE_DECIDED_JOB, uniqueKey: groupId, dueAtMs, payload: { groupId } },
  ]);
  crashPoint('activate.ended');
}

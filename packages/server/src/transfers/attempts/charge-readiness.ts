import type { ChargeFault, ChargesPrecheck } from '../../chains/port/index.ts';
import { type GasNeeds, type GasStep, gasStep, type MovementsUnderWay, wait } from './readiness.ts';

// What charges need before they take a sequence: the merchant's account at the collector, the payer's mandate, and ether for
// the fees. Each is brought by a movement of ours that has to be in a block first. Pure, as `readiness.ts`.

/** On their way: not in a block when the chain was read. */
export interface ChargesUnderWay extends Pick<MovementsUnderWay, 'fees' | 'unpriced' | 'gas'> {
  isOpening: boolean;
}

export interface ChargeNeeds extends GasNeeds {
  precheck: Omit<ChargesPrecheck, 'activation' | 'missing' | 'faults' | 'unclear'>;
  underWay: ChargesUnderWay;
}

type AccountStep = { do: 'move'; by: 'tank'; movement: { kind: 'account' } } | ReturnType<typeof wait>;

export type ChargeStep = { do: 'send'; count: number } | AccountStep | GasStep;

/**
 * The next step towards `count` charges: as many are sent as the wallet's ether pays for, the others wait. So however many
 * are due at once, no more ether is needed than the wallet may hold.
 */
export function nextChargeStep(needs: ChargeNeeds, count: number): ChargeStep {
  const { precheck, limits, underWay } = needs;
  const { refused, fee, native } = precheck;
  if (refused !== null) return wait(refused);
  if (precheck.isAccountMissing) return accountStep(needs);
  if (precheck.isOtherOperator) return wait('other_operator');
  const taken = takenOf(needs);
  const payable = native > taken ? (native - taken) / fee : 0n;
  if (payable >= BigInt(count)) return { do: 'send', count };
  if (payable > 0n) return { do: 'send', count: Number(payable) };
  const { gasCeiling, dayLeft } = limits;
  const ofDay = dayLeft === undefined ? gasCeiling : native + underWay.gas + dayLeft;
  const most = ofDay < gasCeiling ? ofDay : gasCeiling;
  const within = most > taken ? (most - taken) / fee : 0n;
  const wanted = within < BigInt(count) ? within : BigInt(count);
  return gasStep(needs, taken + fee * (wanted > 1n ? wanted : 1n));
}

/** What is on its way as if it cost what it may. */
const takenOf = ({
  underWay: { fees, unpriced },
  precheck: { dearest },
}: Pick<ChargeNeeds, 'underWay' | 'precheck'>) => fees + unpriced * dearest;

/** The gas tank opens the account: its owner's key is needed for nothing. */
function accountStep({ precheck, underWay, tankSpending }: ChargeNeeds): AccountStep {
  if (underWay.isOpening) return wait('wait_account');
  if (precheck.tank.native - tankSpending < precheck.movementFees.account) return wait('tank_low');
  return { do: 'move', by: 'tank', movement: { kind: 'account' } };
}

/** A charge that a call of the collector has judged. */
export type ChargeVerdict = 'ready' | 'waits' | ChargeFault;

/** A mandate that is on its way to the chain. */
export interface AwaitedMandate {
  /** With a signed approval: what its wallet allows is known when the activation has ended. */
  hasPermit: boolean;
}

/**
 * Whether a charge goes, waits for its mandate's activation, or fails unsent. A mandate that nobody brings to the chain
 * allows nothing. A mandate can be there without its signed approval, which is not the payer's doing.
 */
export function judgeCharge(
  { missing, faults, unclear }: Pick<ChargesPrecheck, 'missing' | 'faults' | 'unclear'>,
  { chargeId, mandateId }: { chargeId: string; mandateId: string },
  awaited: AwaitedMandate | undefined,
): ChargeVerdict {
  if (missing.has(mandateId)) return awaited === undefined ? 'insufficient_allowance' : 'waits';
  // Sent, it would cost its fee, and the customer would be dunned for something that is not known.
  if (unclear.has(chargeId)) return 'waits';
  const fault = faults.get(chargeId);
  if (fault === 'insufficient_allowance' && awaited?.hasPermit === true) return 'waits';
  return fault ?? 'ready';
}

/** What the collector has of a mandate in the final block. */
export type FinalMandate = 'missing' | 'active' | 'revoked';

export interface ActivationNeeds extends ChargeNeeds {
  final: FinalMandate;
  /** In the newest block. */
  isMissing: boolean;
  activation: Pick<
    NonNullable<ChargesPrecheck['activation']>,
    'allowance' | 'isSignatureRefused' | 'isTaken' | 'permit'
  > & {
    /** What the permit approves; 0 without one. */
    permitted: bigint;
    /** The least that the page takes a mandate with: the price. */
    needed: bigint;
  };
  /** A simulation of a charge has succeeded: enough was allowed then. */
  simulationSucceeded: boolean;
  isActivating: boolean;
  /** Transactions of this activation that reverted. */
  failures: number;
  /** Those that could not be built, though a call had passed. */
  unbuilt: number;
  /** Seconds for which `isUnapproved` was true, as far as was seen. */
  unapprovedSeconds: number;
  /** Seconds since it was ordered. */
  ageSeconds: number;
}

/** Why a mandate is not activated any more. */
export type ActivationFault = 'revoked' | 'signature_refused' | 'no_allowance' | 'permit_expired';

export type ActivationStep =
  | { do: 'end'; as: 'active' | ActivationFault }
  | { do: 'move'; by: 'hot'; movement: { kind: 'activate'; hasPermit: boolean } }
  | AccountStep
  | GasStep;

/** A wallet that allows too little for so long gets no activation: the payer has taken the approval back. */
export const APPROVAL_WITHIN_SECONDS = 3_600;

/** A signed approval is given up when a second reading, some blocks later, says the same. */
export const GIVEN_UP_AFTER_SECONDS = 60;

/** What does not pass in a call gets no transaction, and no more time than this. */
export const PASSING_WITHIN_SECONDS = 86_400;
/** A wallet's contract can tell a call from a transaction, and refuse the latter. */
const FAILURES_MAX = 2;
/** Nodes that contradict each other let it pass and refuse it: each try waits twice as long, and uses a sequence up. */
const UNBUILT_MAX = 6;
const REBUILD_AFTER_SECONDS = 60;

/**
 * Whether its wallet allows less than the price, and no transaction of ours will change that: the first charge would fail, and
 * the activation would be paid for in vain.
 */
export function isUnapproved({
  isMissing,
  activation: { allowance, permitted, needed, permit },
}: {
  isMissing: boolean;
  activation: Pick<ActivationNeeds['activation'], 'allowance' | 'permitted' | 'needed' | 'permit'>;
}): boolean {
  const isToCome = isMissing && permit === 'open' && allowance < permitted;
  return allowance < needed && !isToCome;
}

/** The next step towards an active mandate. Nothing is paid for wallets that have approved less than the price. */
export function nextActivationStep(needs: ActivationNeeds): ActivationStep {
  const { final, precheck, activation, isMissing, isActivating, ageSeconds } = needs;
  if (final === 'active') return finalStep(needs);
  if (final === 'revoked') return { do: 'end', as: 'revoked' };
  if (!isMissing) return wait('wait_final');
  if (isActivating) return wait('wait_activate');
  const { failures, unbuilt } = needs;
  if (activation.isSignatureRefused || failures >= FAILURES_MAX || unbuilt >= UNBUILT_MAX)
    return { do: 'end', as: 'signature_refused' };
  // A permit that another merchant's transaction has handed in meanwhile is left out of the next one.
  const isAnother = unbuilt === 1 && activation.permit === 'spent';
  if (unbuilt > 0 && !isAnother && ageSeconds < REBUILD_AFTER_SECONDS * 2 ** unbuilt)
    return wait('wait_activate');
  if (!activation.isTaken)
    return ageSeconds < PASSING_WITHIN_SECONDS
      ? wait('wait_activate')
      : { do: 'end', as: 'signature_refused' };
  // A token that is paused takes no approval, which is nobody's fault.
  if (precheck.refused !== null) return wait(precheck.refused);
  if (isUnapproved(needs)) return unapprovedStep(needs);
  if (precheck.isAccountMissing) return accountStep(needs);
  const needed = takenOf(needs) + precheck.movementFees.activate;
  if (precheck.native < needed) return gasStep(needs, needed);
  // An allowance that is as large already is not replaced: the payer may have approved more since.
  const hasPermit = activation.permit === 'open' && activation.allowance < activation.permitted;
  return { do: 'move', by: 'hot', movement: { kind: 'activate', hasPermit } };
}

/**
 * The mandate can be there without its signed approval: a stranger has brought it alone, or the collector has skipped the
 * approval as it was too late. Then nothing sends that any more, and the payer signs anew.
 */
function finalStep(needs: ActivationNeeds): ActivationStep {
  const { activation, simulationSucceeded } = needs;
  const isLost =
    activation.permitted > 0n && !simulationSucceeded && isUnapproved({ ...needs, isMissing: false });
  return isLost ? giveUp(needs) : { do: 'end', as: 'active' };
}

const giveUp = ({ unapprovedSeconds }: ActivationNeeds): ActivationStep =>
  unapprovedSeconds < GIVEN_UP_AFTER_SECONDS ? wait('wait_allowance') : { do: 'end', as: 'permit_expired' };

function unapprovedStep(needs: ActivationNeeds): ActivationStep {
  const { activation, unapprovedSeconds } = needs;
  if (activation.permitted === 0n)
    return unapprovedSeconds < APPROVAL_WITHIN_SECONDS
      ? wait('wait_allowance')
      : { do: 'end', as: 'no_allowance' };
  // What the token refuses now, it may take later: a frozen wallet. The permit's own end is the last word.
  const isOver = activation.permit === 'spent' || activation.permit === 'expired';
  return isOver ? giveUp(needs) : wait('wait_allowance');
}

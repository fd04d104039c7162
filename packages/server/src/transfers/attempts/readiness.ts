import type { Asset } from '@florin/contract/money';
import type { Movement, Precheck } from '../../chains/port/index.ts';
import { largestOf, totalOf } from '../../platform/amounts.ts';
import { isLoanInUse, type LendingWait, lendStep } from './lending.ts';
import { type TankWait, tankWait } from './paid-by-tank.ts';

// What a wallet must have before a payment takes a sequence: ether for the fees, an allowance for the payout contract, the
// contract for sweeps. Each is brought by a movement of ours that has to be in a block first. Pure: amounts in, step out.
// Everything on its way is counted as if it took what it may and brought nothing: being wrong costs a wait.

/** On their way: not in a block when the chain was read. */
export interface MovementsUnderWay {
  /** The most that the wallet's transactions can cost, and how many of them have no price yet. */
  fees: bigint;
  unpriced: bigint;
  /** What they take of the token. */
  outgoing: bigint;
  isApproving: boolean;
  /** The tank lends the wallet something, or takes it back. */
  isLending: boolean;
  /** Ether for the wallet. */
  gas: bigint;
}

/** What the operator allows. */
export interface ReadinessLimits {
  /** The most ether that a hot wallet may be given, in wei. */
  gasCeiling: bigint;
  /** What the payout contract may pull, unless a payment needs more. */
  allowance: bigint;
  /** Nothing above what is missing: what a deposit address does not use stays there. */
  isExact?: boolean;
  /** It has waited so long that nothing is lent for it any more. */
  isLate?: boolean;
  /** The most that the gas tank may have lent at a time, whomever to. */
  lentMost?: bigint;
  /** What is left of the merchant's day of top-ups; undefined: there is no such limit, or the answer is not the last one. */
  dayLeft?: bigint | undefined;
}

/** Why nothing is sent: `wait…` passes by itself, the others need a person. */
export type WaitReason =
  | 'wait_approval'
  | 'wait_gas'
  | 'wait_deploy'
  | 'wait_account'
  | 'wait_activate'
  | 'wait_final'
  | 'wait_allowance'
  | 'gas_day'
  | 'top_up_refused'
  | TopUpWait
  | TankWait
  | LendingWait
  | 'other_operator'
  | 'call_reverts'
  | NonNullable<Precheck['refused']>;

export type PaymentStep =
  | { do: 'send' }
  | { do: 'move'; by: 'hot' | 'tank'; movement: Exclude<Movement, { kind: 'fill' }> }
  | { do: 'wait'; reason: WaitReason };

type Waiting = Extract<PaymentStep, { do: 'wait' }>;

/** A top-up of a hot wallet, or what it waits for. */
export type GasStep = { do: 'move'; by: 'tank'; movement: Extract<Movement, { kind: 'gas' }> } | Waiting;

export interface PaymentNeeds {
  asset: Asset;
  /** Of all transactions together. */
  amount: bigint;
  precheck: Precheck;
  underWay: MovementsUnderWay;
  /** What the gas tank's transactions can still cost, and what of that other wallets get. */
  tankSpending: bigint;
  topUps: bigint;
  /** Stake that the gas tank is about to lend. */
  lending: bigint;
  limits: ReadinessLimits;
}

export const wait = (reason: WaitReason): Waiting => ({ do: 'wait', reason });

/** The next step towards payments from a hot wallet. */
export function nextPaymentStep(needs: PaymentNeeds): PaymentStep {
  const { asset, amount, precheck, underWay, limits } = needs;
  if (precheck.refused !== null) return wait(precheck.refused);
  // An approval replaces the allowance: payments behind one would find another than the one that was read.
  if (underWay.isApproving) return wait('wait_approval');
  // What is seen now may be gone by the time of the block, or not be seen yet.
  if (underWay.isLending || isLoanInUse(needs)) return wait('wait_lent');
  const { allowance, fees, movementFees } = precheck;
  const isShort = allowance !== null && allowance - underWay.outgoing < amount;
  // USDT goes from one allowance to another by way of 0.
  const isByZero = isShort && asset === 'USDT' && allowance > 0n;
  const approvals = isShort ? (isByZero ? 2n : 1n) : 0n;
  const dearest = largestOf([precheck.dearest ?? 0n, movementFees.approve, ...fees]);
  const needed =
    underWay.fees + underWay.unpriced * dearest + totalOf(fees) + approvals * movementFees.approve;
  if (precheck.native < needed) {
    const step = lendStep(needs, needed);
    return step.do === 'coins' ? gasStep(needs, step.needed) : step;
  }
  if (!isShort) return { do: 'send' };
  const wanted = amount > limits.allowance ? amount : limits.allowance;
  return { do: 'move', by: 'hot', movement: { kind: 'approve', asset, amount: isByZero ? 0n : wanted } };
}

/**
 * Ether for what a wallet has signed and cannot pay. Neither a token that refuses everything by now nor an approval on its way holds it up,
 * as the sequences of what is signed hold up all that comes after.
 */
export function nextRefuelStep(needs: Omit<PaymentNeeds, 'asset' | 'amount'>): PaymentStep {
  const { precheck, underWay } = needs;
  const needed = underWay.fees + underWay.unpriced * precheck.movementFees.approve;
  return precheck.native < needed ? gasStep(needs, needed) : { do: 'send' };
}

/** A quarter above what is missing, as fees rise while it is on its way. */
const GAS_MARGIN = 4n;

/** What a top-up of a hot wallet depends on. */
export interface GasNeeds {
  precheck: Pick<Precheck, 'native' | 'tank'> & { movementFees: Readonly<Record<'gas', bigint>> };
  underWay: Pick<MovementsUnderWay, 'gas'>;
  tankSpending: bigint;
  topUps: bigint;
  limits: Pick<ReadinessLimits, 'gasCeiling' | 'isExact' | 'dayLeft'>;
}

/** The step towards a hot wallet that holds `needed`. */
export function gasStep(needs: GasNeeds, needed: bigint): GasStep {
  const { precheck, underWay, tankSpending, topUps, limits } = needs;
  const { native, tank, movementFees } = precheck;
  const missing = needed - native - underWay.gas;
  if (missing <= 0n) return wait('wait_gas');
  const room = limits.gasCeiling - native - underWay.gas;
  if (missing > room) return wait('gas_ceiling');
  const { dayLeft = room } = limits;
  if (missing > dayLeft) return wait('gas_day');
  const wanted = limits.isExact === true ? missing : missing + missing / GAS_MARGIN;
  const asked = [wanted, room, dayLeft].reduce((least, one) => (one < least ? one : least));
  const { amount, waitsFor } = boundTopUp({ tank, topUps, fee: movementFees.gas }, { asked, missing });
  if (waitsFor !== undefined) return wait(waitsFor);
  if (tank.native - tankSpending < amount + movementFees.gas) return wait('tank_low');
  return { do: 'move', by: 'tank', movement: { kind: 'gas', amount } };
}

/** `top_ups_used`: what the signer's policy gives in a day is given, or ordered. */
export type TopUpWait = 'gas_ceiling' | 'top_ups_used';

interface TopUpBounds {
  tank: Pick<Precheck['tank'], 'topUpMax' | 'topUpsLeft'>;
  /** On their way: those that are signed are counted twice until they are in a block, which costs a wait at the end of a day. */
  topUps: bigint;
  /** What a top-up costs: less than that is not given for a part of what is missing. */
  fee: bigint;
}

/**
 * A top-up within what the signer's policy allows. Above that it waits for a person, and its order takes a sequence of the tank and
 * is filled: several smaller top-ups need nobody.
 */
export function boundTopUp(
  { tank, topUps, fee }: TopUpBounds,
  { asked, missing }: { asked: bigint; missing: bigint },
): { amount: bigint; waitsFor?: undefined } | { amount?: undefined; waitsFor: TopUpWait } {
  const { topUpMax = asked, topUpsLeft } = tank;
  const most = topUpMax < asked ? topUpMax : asked;
  if (most <= 0n) return { waitsFor: 'gas_ceiling' };
  const left = topUpsLeft === undefined ? most : topUpsLeft - topUps;
  if (left >= most) return { amount: most };
  return left <= 0n || (left < missing && left < fee) ? { waitsFor: 'top_ups_used' } : { amount: left };
}

export interface SweepNeeds extends Pick<PaymentNeeds, 'precheck' | 'tankSpending'> {
  isDeploying: boolean;
}

/** The next step towards sweeps, which the gas tank sends. */
export function nextSweepStep({ precheck, isDeploying, tankSpending }: SweepNeeds): PaymentStep {
  if (precheck.refused !== null) return wait(precheck.refused);
  const left = precheck.tank.native - tankSpending;
  if (precheck.isDelegateMissing) {
    if (isDeploying) return wait('wait_deploy');
    if (left < precheck.movementFees.deploy) return wait('tank_low');
    return { do: 'move', by: 'tank', movement: { kind: 'deploy', contract: 'sweep_delegate' } };
  }
  const needed = totalOf(precheck.fees);
  if (left >= needed) return { do: 'send' };
  // A tank that pays for everything has payments on their way that may cost less.
  const { native } = precheck.tank;
  return wait((precheck.paidByTank && tankWait(needed, { native, spending: tankSpending })) ?? 'tank_low');
}

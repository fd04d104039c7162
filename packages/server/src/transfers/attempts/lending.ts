import {
  type DepositKeyRef,
  depositIndexOf,
  type KeyRef,
  type Movement,
  type Precheck,
} from '../../chains/port/index.ts';
import { totalOf } from '../../platform/amounts.ts';

// A sweep's fee is paid with coins, which are burnt, or with what the gas tank has staked, which it lends the address and takes back: then
// two transactions of the tank are all that is spent. Pure: amounts in, step out. What is lent is taken back by what the chain shows, so
// that nobody has to know where it came from.

/** Sweeps that have waited for so long get coins, and what was lent for them is taken back. */
export const LENT_SECONDS = 86_400;

/** What the tank lends, or takes back. */
interface Lent {
  do: 'move';
  by: 'tank';
  movement: Extract<Movement, { kind: 'lend' | 'unlend' }>;
}

/** `wait_lent` passes by itself. */
export type LendingWait = 'wait_lent';
interface Waiting<Reason> {
  do: 'wait';
  reason: Reason;
}
const WAIT: Waiting<LendingWait> = { do: 'wait', reason: 'wait_lent' };

export interface LendingNeeds {
  precheck: Pick<Precheck, 'lending' | 'fees' | 'native' | 'tank'>;
  tankSpending: bigint;
  /** Stake that the tank is about to lend. */
  lending: bigint;
  /** `lentMost`: of all addresses together. */
  limits: { isLate?: boolean; lentMost?: bigint };
}

interface LoanUse {
  precheck: Pick<Precheck, 'lending'>;
  /** What other transactions of the address can cost, and how many there are without a price. */
  underWay: { fees: bigint; unpriced: bigint };
  limits: LendingNeeds['limits'];
}

/** Another transaction of the address may be using its loan: what looks free of it may be gone by the time of the block. */
export const isLoanInUse = ({ precheck: { lending }, underWay: { fees, unpriced }, limits }: LoanUse) =>
  limits.isLate !== true && lending !== undefined && lending.lent > 0n && (fees > 0n || unpriced > 0n);

/**
 * How fees are paid of which the address does not hold the coins: by a loan, or by so many coins. Before a loan it needs those that stake
 * does not replace; they make it an account, which alone can be lent to.
 *
 * @param needed coins, where nothing is lent
 */
export function lendStep(
  { precheck, tankSpending, lending: promised, limits }: LendingNeeds,
  needed: bigint,
): Lent | { do: 'coins'; needed: bigint } {
  const { lending, fees, native, tank } = precheck;
  const byCoins = { do: 'coins', needed } as const;
  if (lending === undefined || limits.isLate === true) return byCoins;
  const { to, staked, coins, available, lent, fee } = lending;
  // It was too little, and nobody knows whether more of it would be enough.
  if (lent > 0n) return byCoins;
  const burnt = totalOf(fees) - coins;
  const cost = 2n * fee;
  if (burnt <= cost || staked > available - promised || tank.native - tankSpending < cost) return byCoins;
  const lentThen = (tank.lent ?? 0n) + promised + staked;
  if (limits.lentMost !== undefined && lentThen > limits.lentMost) return byCoins;
  if (native < needed - burnt) return { do: 'coins', needed: needed - burnt };
  return { do: 'move', by: 'tank', movement: { kind: 'lend', staked, to } };
}

/** While others of its group are not over, an address is looked after for so long after its transfers are. */
const LOOKED_AFTER_SECONDS = 600;

/** A transfer of a group. Times are Unix seconds. */
interface Lifetime {
  key_ref: KeyRef;
  created_at: bigint | number;
  completed_at: bigint | number | null;
}

/** Nothing is lent for it any more. */
export const isLate = ({ created_at: createdAt }: Pick<Lifetime, 'created_at'>, nowSeconds: number) =>
  nowSeconds - Number(createdAt) > LENT_SECONDS;

/** The deposit addresses of a group that need nothing more, each with one of its transfers: all of them are decided, or late. */
export function keysToSettle<T extends Lifetime>(
  transfers: readonly T[],
  nowSeconds: number,
): { keyRef: DepositKeyRef; of: T }[] {
  const isOver = (one: T) => one.completed_at !== null || isLate(one, nowSeconds);
  const isRecent = ({ completed_at: at }: T) => Number(at ?? 0) > nowSeconds - LOOKED_AFTER_SECONDS;
  const areAllOver = transfers.every(isOver);
  return [...Map.groupBy(transfers, ({ key_ref: keyRef }) => keyRef)].flatMap(([keyRef, own]) => {
    const index = depositIndexOf(keyRef);
    const [of] = own;
    if (index === null || of === undefined || !own.every(isOver)) return [];
    return areAllOver || own.some(isRecent) ? [{ keyRef: `deposit:${index}` as const, of }] : [];
  });
}

interface TakeBackNeeds {
  precheck: Pick<Precheck, 'lending' | 'tank'>;
  underWay: { isLending: boolean };
  /** A transfer of the address is being sent, or may be soon: whoever ends it takes back. */
  isUsed: boolean;
  tankSpending: bigint;
  /** The group has waited for longer than `LENT_SECONDS`. */
  isLate: boolean;
}

/**
 * The step towards a tank that has its stake back. `done`: this address has none of it, or needs it. `give_up`: nobody tells whether it has,
 * for so long that the group ends without. A loan is lost to sweeps then, and no coins; whoever lists the tank's loans wakes the group again.
 */
export function takeBackStep({
  precheck,
  underWay,
  isUsed,
  tankSpending,
  isLate: isTooLate,
}: TakeBackNeeds): Lent | Waiting<LendingWait | 'tank_low'> | { do: 'done' } | { do: 'give_up' } {
  const { lending, tank } = precheck;
  if (isUsed) return { do: 'done' };
  if (underWay.isLending) return WAIT;
  if (tank.lent === undefined || tank.lent === 0n) return { do: 'done' };
  if (lending === undefined) return isTooLate ? { do: 'give_up' } : WAIT;
  const { lent: staked, to, fee } = lending;
  if (staked === 0n) return { do: 'done' };
  if (tank.native - tankSpending < fee) return { do: 'wait', reason: 'tank_low' };
  return { do: 'move', by: 'tank', movement: { kind: 'unlend', staked, to } };
}

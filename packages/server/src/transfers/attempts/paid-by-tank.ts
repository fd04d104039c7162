import type { PaidByTank, Precheck } from '../../chains/port/index.ts';
import { largestOf } from '../../platform/amounts.ts';

// Where the gas tank pays for all transactions, none is signed that it cannot pay: no block would take it, it would expire, and
// the signer counts what it has signed for an item. And recipients keep what it costs to open their accounts, so that has a
// ceiling. Pure: amounts in, a choice out. A transaction on its way counts as if it took what it may: being wrong costs a wait.

/** What a planned payment takes of the gas tank. */
export interface TankCost {
  /** At most. */
  cost: bigint;
  /** Of that, for accounts that its recipients do not have now. */
  openings: bigint;
}

export interface TankBudget {
  /** What the tank holds, and what transactions on their way may take of it. */
  native: bigint;
  spending: bigint;
  /** What is left of the merchant's ceiling for the accounts of recipients. */
  openings: bigint;
}

/** `wait_tank` passes by itself, as what is on its way costs less, or is over; `opening_ceiling` within a day. */
export type TankWait = 'tank_low' | 'opening_ceiling' | 'wait_tank';

/** One reason is shown: what a person has to do comes first. */
const REASONS: readonly TankWait[] = ['tank_low', 'opening_ceiling', 'wait_tank'];

/** What a payment of these recipients takes. */
export function tankCostOf(paidByTank: PaidByTank | null, addresses: readonly string[]): TankCost {
  if (paidByTank === null) return { cost: 0n, openings: 0n };
  const { fee, opening, newRecipients } = paidByTank;
  const recipients = [...new Set(addresses)];
  const isNew = recipients.filter((address) => newRecipients.has(address));
  return {
    cost: fee + opening * BigInt(recipients.length),
    openings: opening * BigInt(isNew.length),
  };
}

export interface TankChoice<T> {
  taken: T[];
  /** Why others wait. */
  waitsFor: TankWait | undefined;
  /** What is left for further payments. */
  left: TankBudget;
}

/** The payments that the tank can pay, in order; one that is too dear blocks none behind it. */
export function selectPaidByTank<T extends TankCost>(
  planned: readonly T[],
  budget: TankBudget,
): TankChoice<T> {
  let left = budget;
  const waits = new Set<TankWait>();
  const taken = planned.filter((one) => {
    const why = waitOf(one, left);
    if (why !== undefined) {
      waits.add(why);
      return false;
    }
    left = { ...left, spending: left.spending + one.cost, openings: left.openings - one.openings };
    return true;
  });
  return { taken, waitsFor: REASONS.find((reason) => waits.has(reason)), left };
}

function waitOf({ cost, openings }: TankCost, left: TankBudget): TankWait | undefined {
  if (openings > 0n && openings > left.openings) return 'opening_ceiling';
  return tankWait(cost, left);
}

/** Why the tank cannot pay so much now; undefined: it can. */
export function tankWait(
  cost: bigint,
  { native, spending }: Pick<TankBudget, 'native' | 'spending'>,
): TankWait | undefined {
  if (native - spending >= cost) return undefined;
  return native < cost ? 'tank_low' : 'wait_tank';
}

/** A transaction without a price: the dearest that there is. */
export function dearestPaid(
  { paidByTank, fees }: Pick<Precheck, 'paidByTank' | 'fees'>,
  itemsMax: number,
): bigint {
  const payment = paidByTank === null ? 0n : paidByTank.fee + paidByTank.opening * BigInt(itemsMax);
  return largestOf([payment, ...fees]);
}

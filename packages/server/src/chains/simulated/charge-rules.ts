import type { Network } from '@florin/contract/money';
import type { ChargeFault, Mandate } from '../port/port.ts';
import { PERIOD_SECONDS_MIN } from '../port/port-mandates.ts';
import { NETWORK_RULES } from './rules.ts';

/** The part of a transaction's body that makes it a charge, as JSON. */
export interface ChargeBody {
  mandate: Omit<Mandate, 'cap'> & { cap: string };
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
}

/** The amount charged by a mandate for a subscription in a window. */
export interface WindowUse {
  mandateId: string;
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
  amount: bigint;
}

/** The part of the chain's state, beside balances, that charges read and change. */
export interface ChargeState {
  /** `balanceKey` of payers → what the spender may still pull. */
  allowances: Map<string, bigint>;
  /** By mandate id; an absent mandate is not on the chain. */
  mandateStatuses: Map<string, 'active' | 'revoked'>;
  uses: WindowUse[];
  /** Mandate id → the subscriptions that were charged by it. */
  served: Map<string, Set<string>>;
}

export const emptyChargeState = (): ChargeState => ({
  allowances: new Map(),
  mandateStatuses: new Map(),
  uses: [],
  served: new Map(),
});

interface Pull {
  amount: bigint;
  /** `balanceKey` of the payer. */
  account: string;
  balance: bigint;
  /** Unix seconds of the block. */
  time: number;
}

/**
 * Why the network refuses a charge; undefined where it accepts it. Without a collector the chain has no mandates: only the
 * allowance counts, and revoking means to withdraw it.
 */
export function refuseCharge(
  network: Network,
  { mandate, ...window }: ChargeBody,
  pull: Pull,
  state: ChargeState,
): ChargeFault | undefined {
  const { windowCap } = NETWORK_RULES[network].capabilities;
  const status = state.mandateStatuses.get(mandate.mandateId);
  if (status === 'revoked') return 'mandate_revoked';
  if (windowCap) {
    const isInTerm = pull.time >= mandate.startsAt && (mandate.endsAt === null || pull.time < mandate.endsAt);
    if (status === undefined) return 'insufficient_allowance';
    if (!isInTerm) return isPast(pull.time, mandate, window) ? 'too_late' : 'insufficient_allowance';
    if (window.windowEnd - window.windowStart < PERIOD_SECONDS_MIN[mandate.period]) return 'cap_exceeded';
    if (window.windowEnd + LATE_SECONDS <= pull.time) return 'too_late';
    if (window.windowStart > pull.time + AHEAD_SECONDS) return 'cap_exceeded';
    if (!isServed(mandate, window.subscriptionId, state)) return 'cap_exceeded';
    const used = usedIn(state.uses, { mandateId: mandate.mandateId, ...window });
    if (used + pull.amount > BigInt(mandate.cap)) return 'cap_exceeded';
  }
  if ((state.allowances.get(pull.account) ?? 0n) < pull.amount) return 'insufficient_allowance';
  return pull.balance < pull.amount ? 'insufficient_balance' : undefined;
}

/** As the collector on Ethereum has it: no window begins more than a day ahead, or has ended for a week. */
const AHEAD_SECONDS = 86_400;
const LATE_SECONDS = 604_800;

/** Whether the term was over before a charge came that was for it. */
const isPast = (
  time: number,
  { endsAt }: Pick<Mandate, 'endsAt'>,
  { windowStart }: Pick<ChargeBody, 'windowStart'>,
) => endsAt !== null && endsAt <= time && windowStart < endsAt;

/** Whether the payer has signed for that subscription, or for one more. */
function isServed(
  { mandateId, subscriptions }: ChargeBody['mandate'],
  subscriptionId: string,
  { served }: ChargeState,
): boolean {
  if (subscriptions === undefined) return true;
  const known = served.get(mandateId) ?? new Set();
  return known.has(subscriptionId) || known.size < subscriptions;
}

/** Overlapping windows count together; otherwise a window that begins a second later would have a cap of its own. */
function usedIn(uses: readonly WindowUse[], window: Omit<WindowUse, 'amount'>): bigint {
  return uses
    .filter(
      (use) =>
        use.mandateId === window.mandateId &&
        use.subscriptionId === window.subscriptionId &&
        use.windowStart < window.windowEnd &&
        window.windowStart < use.windowEnd,
    )
    .reduce((sum, use) => sum + use.amount, 0n);
}

/** Records an accepted charge. */
export function recordCharge({ mandate, ...window }: ChargeBody, pull: Pull, state: ChargeState): void {
  const allowed = state.allowances.get(pull.account) ?? 0n;
  state.allowances.set(pull.account, allowed - pull.amount);
  const { mandateId } = mandate;
  state.uses.push({ mandateId, ...window, amount: pull.amount });
  state.served.set(mandateId, new Set([...(state.served.get(mandateId) ?? []), window.subscriptionId]));
}

import type { Network } from '@florin/contract/money';
import type { ChargeFault, Mandate, MandatePeriod } from '../port/port.ts';
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
}

export const emptyChargeState = (): ChargeState => ({
  allowances: new Map(),
  mandateStatuses: new Map(),
  uses: [],
});

const DAY_SECONDS = 86_400;
/** The shortest possible period of each kind: no window with a cap of its own may be shorter. */
const PERIOD_SECONDS_MIN: Record<MandatePeriod, number> = {
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
  month: 28 * DAY_SECONDS,
  year: 365 * DAY_SECONDS,
};

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
  const { windowCap } = NETWORK_RULES[network].caps;
  const status = state.mandateStatuses.get(mandate.mandateId);
  if (status === 'revoked') return 'mandate_revoked';
  if (windowCap) {
    const isInTerm = pull.time >= mandate.startsAt && (mandate.endsAt === null || pull.time < mandate.endsAt);
    if (status === undefined || !isInTerm) return 'insufficient_allowance';
    if (window.windowEnd - window.windowStart < PERIOD_SECONDS_MIN[mandate.period]) return 'cap_exceeded';
    const used = usedIn(state.uses, { mandateId: mandate.mandateId, ...window });
    if (used + pull.amount > BigInt(mandate.cap)) return 'cap_exceeded';
  }
  if ((state.allowances.get(pull.account) ?? 0n) < pull.amount) return 'insufficient_allowance';
  return pull.balance < pull.amount ? 'insufficient_balance' : undefined;
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
  state.uses.push({ mandateId: mandate.mandateId, ...window, amount: pull.amount });
}

import type { Network } from '@florin/contract/money';
import type { ChargeFault, Mandate, MandatePeriod } from '../port.ts';
import { NETWORK_RULES } from './rules.ts';

/** What a transaction says that pulls from a payer, in the form of JSON. */
export interface ChargeBody {
  mandate: Omit<Mandate, 'cap'> & { cap: string };
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
}

/** What was charged of a mandate for a subscription in a window. */
export interface WindowUse {
  mandateId: string;
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
  amount: bigint;
}

/** The part of the chain's state that charges touch beside balances. */
export interface ChargeState {
  /** `balanceKey` of payers → what our spender may still pull. */
  allowances: Map<string, bigint>;
  /** Mandates that the chain knows; an absent one it does not. */
  standings: Map<string, 'active' | 'revoked'>;
  uses: WindowUse[];
}

export const emptyChargeState = (): ChargeState => ({
  allowances: new Map(),
  standings: new Map(),
  uses: [],
});

const DAY_SECONDS = 86_400;
/** The shortest that there is of each: a cap is for no less. */
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
 * Why the network refuses a charge; undefined where it takes it. Where there is no collector nobody knows mandates: an
 * allowance is all that there is, and taking it back is the only revoking.
 */
export function refuseCharge(
  network: Network,
  { mandate, ...window }: ChargeBody,
  pull: Pull,
  state: ChargeState,
): ChargeFault | undefined {
  const { windowCap } = NETWORK_RULES[network].caps;
  const standing = state.standings.get(mandate.mandateId);
  if (standing === 'revoked') return 'mandate_revoked';
  if (windowCap) {
    const isInTerm = pull.time >= mandate.startsAt && (mandate.endsAt === null || pull.time < mandate.endsAt);
    if (standing === undefined || !isInTerm) return 'insufficient_allowance';
    if (window.windowEnd - window.windowStart < PERIOD_SECONDS_MIN[mandate.period]) return 'cap_exceeded';
    const used = usedIn(state.uses, { mandateId: mandate.mandateId, ...window });
    if (used + pull.amount > BigInt(mandate.cap)) return 'cap_exceeded';
  }
  if ((state.allowances.get(pull.account) ?? 0n) < pull.amount) return 'insufficient_allowance';
  return pull.balance < pull.amount ? 'insufficient_balance' : undefined;
}

/** Windows that overlap count together: else each further second would begin a window with a cap of its own. */
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

/** Notes a charge that was taken. */
export function noteCharge({ mandate, ...window }: ChargeBody, pull: Pull, state: ChargeState): void {
  const allowed = state.allowances.get(pull.account) ?? 0n;
  state.allowances.set(pull.account, allowed - pull.amount);
  state.uses.push({ mandateId: mandate.mandateId, ...window, amount: pull.amount });
}

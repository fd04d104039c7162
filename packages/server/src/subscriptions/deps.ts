import type { PaymentMethodDeps } from '../payment-methods/index.ts';
import {
  type MerchantRef,
  PAYMENT_SETTINGS,
  type PaymentContext,
  type PaymentDeps,
} from '../payments/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { activeTrace, type Metrics } from '../platform/observability/index.ts';
import { getMerchant, type Merchant, type Suspensions, suspendedFor } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import type { DecisionContext } from './decide/draft.ts';
import type { BillingRules } from './decide/facts.ts';
import { SUBSCRIPTION_SETTINGS } from './settings.ts';

/** The caller of a store's operation: an API key, or a payer's page. */
export type StoreCaller = Pick<Caller, 'merchantId' | 'storeId' | 'mode' | 'clockOffset'>;

export interface SubscriptionDeps extends PaymentDeps, PaymentMethodDeps {
  metrics: Pick<Metrics, 'observe'>;
}

const DAY_SECONDS = 86_400;

/** The inputs of a change of a subscription, read before its transaction begins. */
export interface BillingContext extends PaymentContext {
  rules: BillingRules;
  suspensions: Suspensions;
  /** The trace of the change's cause. Changes in one transaction may have different traces. */
  trace: string | null;
}

export async function billingContext(
  deps: Pick<SubscriptionDeps, 'db' | 'clock'>,
  merchant: MerchantRef | Merchant,
): Promise<BillingContext> {
  const suspensions =
    'suspendedSeconds' in merchant ? merchant : await getMerchant(deps.db, merchant.merchantId);
  const { dunningDays, pageDueDays, ...settings } = await readSettings(deps.db, merchant, {
    ...SUBSCRIPTION_SETTINGS,
    ...PAYMENT_SETTINGS,
  });
  const rules = {
    dunningDays: dunningDays.map(Number).sort((a, b) => a - b),
    pageDueSeconds: pageDueDays * DAY_SECONDS,
  };
  return { settings, time: merchantTime(deps, merchant), rules, suspensions, trace: activeTrace() };
}

/** The part of the context that decisions use. */
export const decisionContextOf = ({ rules, time, suspensions }: BillingContext): DecisionContext => ({
  rules,
  suspension: {
    isSuspended: suspensions.suspendedAt !== null,
    seconds: suspendedFor(suspensions, time.seconds),
  },
  now: time.seconds,
  newId,
});

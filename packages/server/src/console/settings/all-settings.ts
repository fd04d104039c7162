import { CUSTODY_SETTINGS } from '../../custody/index.ts';
import { EVENT_SETTINGS } from '../../events/index.ts';
import { MAIL_SETTINGS } from '../../mail/index.ts';
import { PAYMENT_METHOD_SETTINGS } from '../../payment-methods/index.ts';
import { PAYMENT_SETTINGS } from '../../payments/index.ts';
import { PAYOUT_SETTINGS } from '../../payouts/index.ts';
import { RATE_SETTINGS } from '../../rates/index.ts';
import { REFUND_SETTINGS } from '../../refunds/index.ts';
import { REQUEST_LOG_SETTINGS } from '../../request-log/index.ts';
import { SUBSCRIPTION_SETTINGS } from '../../subscriptions/index.ts';
import type { Setting } from '../../tenancy/settings/index.ts';
import { TRANSFER_SETTINGS } from '../../transfers/index.ts';
import { WEBHOOK_SETTINGS } from '../../webhooks/index.ts';

/** Every setting that may change while the service runs. */
export const ALL_SETTINGS: readonly Setting<unknown>[] = [
  ...Object.values(PAYMENT_SETTINGS),
  ...Object.values(CUSTODY_SETTINGS),
  ...Object.values(EVENT_SETTINGS),
  ...Object.values(MAIL_SETTINGS),
  ...Object.values(PAYMENT_METHOD_SETTINGS),
  ...Object.values(PAYOUT_SETTINGS),
  ...Object.values(RATE_SETTINGS),
  ...Object.values(REFUND_SETTINGS),
  ...Object.values(REQUEST_LOG_SETTINGS),
  ...Object.values(SUBSCRIPTION_SETTINGS),
  ...Object.values(TRANSFER_SETTINGS),
  ...Object.values(WEBHOOK_SETTINGS),
];

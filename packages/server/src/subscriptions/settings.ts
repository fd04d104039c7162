import { integerSetting, listSetting } from '../tenancy/settings/index.ts';
import { DUNNING_DAYS_DEFAULT } from './decide/dunning.ts';

const DUNNING_DAYS_MAX = 60;
const DAY_SECONDS = 86_400;

export const SUBSCRIPTION_SETTINGS = {
  dunningDays: listSetting({
    name: 'subscriptions.dunning_days',
    description:
      'Days after the first failed charge on which an unpaid invoice is tried again; after the last its subscription is canceled.',
    fallback: DUNNING_DAYS_DEFAULT.map(String),
    allowed: Array.from({ length: DUNNING_DAYS_MAX }, (_, i) => String(i + 1)),
  }),
  pageDueDays: integerSetting({
    name: 'subscriptions.page_due_days',
    description: 'Days within which an invoice is to be paid on its page.',
    fallback: 3,
    min: 1,
    max: 60,
  }),
  mandateSubscriptions: integerSetting({
    name: 'subscriptions.mandate_subscriptions',
    description:
      'For how many subscriptions a payer signs a mandate on networks that count them. For one more, a new signature is asked for.',
    fallback: 1,
    min: 1,
    max: 1_000,
  }),
  portalSeconds: integerSetting({
    name: 'subscriptions.portal_seconds',
    description: 'How long a link to the portal opens.',
    fallback: DAY_SECONDS,
    min: 300,
    max: 30 * DAY_SECONDS,
  }),
};

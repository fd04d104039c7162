import { integerSetting, moneyOrWordSetting, moneySetting } from '../tenancy/settings/index.ts';

export const REFUND_SETTINGS = {
  delaySeconds: integerSetting({
    name: 'refunds.delay_seconds',
    description: 'How long a refund with an address waits before it is sent, so that it can be canceled.',
    fallback: { sandbox: 0, live: 60 },
    min: 0,
    max: 86_400,
  }),
  dailyLimit: moneySetting({
    name: 'refunds.daily_limit',
    description: 'The most that a store may refund in a UTC day, USDT and USDC added up.',
    fallback: { sandbox: '100000.00', live: '5000.00' },
  }),
  supportDailyLimit: moneyOrWordSetting({
    name: 'refunds.support_daily_limit',
    description:
      'The most that one person who may refund and not pay out (the role support) may refund of a store in a UTC day; off: as much as the store.',
    fallback: { sandbox: 'off', live: '500.00' },
    words: ['off'],
  }),
  approvalAbove: moneyOrWordSetting({
    name: 'refunds.approval_above',
    description: 'A refund above this waits for approval; off: none does for its amount.',
    fallback: { sandbox: 'off', live: '500.00' },
    words: ['off'],
  }),
  unapprovedPerDay: moneyOrWordSetting({
    name: 'refunds.unapproved_per_day',
    description:
      'What may be refunded in 24 hours without approval, all refunds together; threshold: as much as approval_above.',
    fallback: { sandbox: 'off', live: 'threshold' },
    words: ['threshold', 'off'],
  }),
  approvals: integerSetting({
    name: 'refunds.approvals',
    description: 'How many registered approvers must approve such a refund.',
    fallback: 1,
    min: 1,
    max: 10,
  }),
};

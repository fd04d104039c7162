import { integerSetting, moneySetting } from '../platform/settings.ts';

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
    fallback: '100000.00',
  }),
};

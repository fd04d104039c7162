import { integerSetting } from '../tenancy/settings/index.ts';

export const PAYMENT_METHOD_SETTINGS = {
  readEverySeconds: integerSetting({
    name: 'payment_methods.read_every_seconds',
    description:
      'How often balance and allowance behind each payment method are read, so that a charge that would fail is known before it is due.',
    // Sandbox wallets change only by API calls, which read them at once.
    fallback: { sandbox: 604_800, live: 3_600 },
    min: 60,
    max: 604_800,
  }),
};

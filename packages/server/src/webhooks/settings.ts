import { integerSetting } from '../tenancy/settings/index.ts';

export const WEBHOOK_SETTINGS = {
  endpointsMax: integerSetting({
    name: 'webhooks.endpoints_max',
    description: 'How many webhook endpoints a store may have, disabled ones included.',
    fallback: 2_000,
    min: 0,
    max: 100_000,
  }),
};

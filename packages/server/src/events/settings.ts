import { integerSetting } from '../tenancy/settings/index.ts';

export const EVENT_SETTINGS = {
  retentionDays: integerSetting({
    name: 'events.retention_days',
    description: 'Days for which events and their deliveries are kept; one value for all merchants.',
    fallback: 30,
    min: 1,
    max: 3_650,
  }),
};

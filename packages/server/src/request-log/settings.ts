import { integerSetting } from '../tenancy/settings/index.ts';

export const REQUEST_LOG_SETTINGS = {
  retentionDays: integerSetting({
    name: 'request_log.retention_days',
    description: 'Days for which requests are kept in the request log; one value for all merchants.',
    fallback: 30,
    min: 1,
    max: 3_650,
  }),
};

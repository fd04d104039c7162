import { integerSetting, moneySetting } from '../tenancy/settings/index.ts';

export const CUSTODY_SETTINGS = {
  sweepMinimum: moneySetting({
    name: 'custody.sweep_minimum',
    description:
      'What a deposit address must hold of a token to be swept into the hot wallet; less stays there until payments need it.',
    fallback: { sandbox: '0.00', live: '5.00' },
  }),
  tankMinimum: moneySetting({
    name: 'custody.tank_minimum',
    description:
      'What the gas tank should hold: below it an alarm says so. In whole coins of the network, such as 0.05.',
    fallback: '0.05',
  }),
  auditBlocks: integerSetting({
    name: 'custody.audit_blocks',
    description:
      'How many of the newest final blocks are read again, to find missed transfers and deep reorganisations.',
    fallback: 200,
    min: 1,
    max: 10_000,
  }),
};

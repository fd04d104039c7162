import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { operator } from '../operations.ts';
import { text } from '../options.ts';
import { resource } from '../resource.ts';
import { cell } from '../table.ts';

type Shown = Awaited<ReturnType<Operator['settings']['get']>>;

/** A default may differ between sandbox and live merchants. */
function value({ value: one }: Shown): unknown {
  if (typeof one !== 'object' || Array.isArray(one)) return one;
  return `${cell(one.sandbox)} (live: ${cell(one.live)})`;
}

const summary = columnsOf<Shown>()('name value of description', { value });

const options = {
  merchant: text('--merchant <id>', 'of this merchant; without it of all that have no value of their own'),
};

const operation = operator(summary);

export const addSettings = resource({
  name: 'settings',
  description: 'Limits and fees of one merchant or of all',
  examples: ['florin settings list', 'florin settings set payouts.approval_above 5000.00'],
  operations: [
    operation('list', 'List all settings with their values', {
      options,
      run: ({ settings }, { merchant }) => settings.list(merchant),
    }),
    operation('get <name>', 'Show one setting', {
      examples: ['florin settings get payouts.daily_quota'],
      options,
      run: ({ settings }, { name, merchant }) => settings.get(name, merchant),
    }),
    operation('set <name> <value>', 'Change a setting, effective from the next request', {
      examples: [
        'florin settings set payouts.approval_above 5000.00',
        'florin settings set transfers.paused erc20,USDC:trc20',
        'florin settings set payouts.daily_quota 250000.00 --merchant mer_01…',
      ],
      options,
      run: ({ settings }, { name, value, merchant }) => settings.set(name, value, merchant),
    }),
    operation('unset <name>', 'Reset a setting to its default', {
      examples: ['florin settings unset payouts.approval_above'],
      options,
      run: ({ settings }, { name, merchant }) => settings.unset(name, merchant),
    }),
  ],
});

import type { Operator } from '@florin/server/operator';
import { operator, resource } from '../operations.ts';
import { text } from '../parameters.ts';
import { cell } from '../table.ts';

type Shown = Awaited<ReturnType<Operator['settings']['get']>>;

/** A default may differ between sandbox and live merchants. */
const summary = ({ name, value, of, description }: Shown) => ({
  name,
  value: wordsOf(value),
  of,
  description,
});

function wordsOf(value: Shown['value']): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return `${cell(value.sandbox)} (live: ${cell(value.live)})`;
}

const options = {
  merchant: text('--merchant <id>', 'of this merchant; without it of all that have no value of their own'),
};

export const addSettings = resource({
  name: 'settings',
  description: 'Limits and fees, of one merchant or of all',
  examples: ['florin settings list', 'florin settings set payouts.approval_above 5000.00'],
  operations: [
    operator('list', 'List all settings with their values', {
      options,
      call: ({ settings }, { merchant }) => settings.list(merchant),
      row: summary,
    }),
    operator('get <name>', 'Show one setting', {
      examples: ['florin settings get payouts.daily_quota'],
      options,
      call: ({ settings }, { name, merchant }) => settings.get(name, merchant),
      row: summary,
    }),
    operator('set <name> <value>', 'Change one setting; it holds from the next request on', {
      examples: [
        'florin settings set payouts.approval_above 5000.00',
        'florin settings set transfers.paused erc20,USDC:trc20',
        'florin settings set payouts.daily_quota 250000.00 --merchant mer_01…',
      ],
      options,
      call: ({ settings }, { name, value, merchant }) => settings.set(name, value, merchant),
      row: summary,
    }),
    operator('unset <name>', 'Go back to the default', {
      examples: ['florin settings unset payouts.approval_above'],
      options,
      call: ({ settings }, { name, merchant }) => settings.unset(name, merchant),
      row: summary,
    }),
  ],
});

import type { Florin, RedeliverInput } from '@florin/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { attemptRow, summaryOf } from '../deliveries.ts';
import { parseDuration, readTime } from '../duration.ts';
import { wrongUsage } from '../failure.ts';
import { florinOf, isSandbox, type MerchantFlags, merchantCommand } from '../merchant.ts';
import { merchant } from '../operations.ts';
import { choice, sortedPage, text } from '../options.ts';
import { resource } from '../resource.ts';
import { show } from '../show.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'exhausted', 'paused'] as const;

/** A point in time, or a duration before now. */
type Since = { at: number } | { ago: number };

interface RedeliverFlags extends MerchantFlags {
  endpoint?: string;
  since?: Since;
  which?: RedeliverInput['which'];
}

/** `2h`, Unix seconds, or a date and time. @throws InvalidArgumentError */
function parseSince(text: string): Since {
  const at = readTime(text);
  if (at !== undefined) return { at };
  if (/^\d+[smhd]$/.test(text)) return { ago: parseDuration(text) };
  throw new InvalidArgumentError(
    'Use a duration such as 2h, Unix seconds, or a time such as 2026-11-20T10:00:00Z.',
  );
}

/** Events carry the merchant's clock, which may be ahead in the sandbox. */
async function sinceSeconds(florin: Florin, since: Since, flags: MerchantFlags): Promise<number> {
  if ('at' in since) return since.at;
  const now = isSandbox(flags) ? await florin.testHelpers.now() : Math.floor(Date.now() / 1000);
  return Math.max(0, now - since.ago);
}

function addRedeliver(group: Command): void {
  const lines = [
    'florin deliveries redeliver whd_01…',
    'florin deliveries redeliver --endpoint we_01… --since 2h --which failed',
    'florin deliveries redeliver --endpoint we_01… --since 2026-11-20T10:00:00Z --which missing',
  ];
  merchantCommand(group, 'redeliver [delivery]', lines)
    .description('Send a delivery again, or all that an endpoint missed since a time')
    .option('--endpoint <id>', 'the endpoint that missed something')
    .addOption(
      new Option('--since <time>', 'how long ago, or when; compared with the time of the events').argParser(
        parseSince,
      ),
    )
    .addOption(
      new Option(
        '--which <which>',
        'failed: its deliveries that failed or are exhausted; missing: events that have none',
      ).choices(['failed', 'missing']),
    )
    .action(async (delivery: string | undefined, flags: RedeliverFlags, command: Command) => {
      const { endpoint, since, which } = flags;
      const isRange = [endpoint, since, which].some((flag) => flag !== undefined);
      if (isRange === (delivery !== undefined))
        throw wrongUsage('Name a delivery, or give --endpoint, --since and --which.');
      if (delivery !== undefined)
        return show(command, await florinOf(flags).deliveries.redeliver(delivery), summaryOf);
      if (endpoint === undefined || since === undefined || which === undefined)
        throw wrongUsage('--endpoint, --since and --which go together.');
      const florin = florinOf(flags);
      const range = { since: await sinceSeconds(florin, since, flags), which };
      show(command, await florin.webhookEndpoints.redeliver(endpoint, range));
    });
}

const operation = merchant(summaryOf);

export const addDeliveries = resource({
  name: 'deliveries',
  description: 'Events on their way to endpoints, and their attempts',
  examples: ['florin deliveries list --status failed', 'florin deliveries show whd_01…'],
  operations: [
    operation('list', 'List deliveries of the store, newest first', {
      examples: [
        'florin deliveries list --status failed',
        'florin deliveries list --endpoint we_01… --limit 100',
      ],
      options: {
        event_id: text('--event <id>', 'of this event'),
        endpoint_id: text('--endpoint <id>', 'to this endpoint'),
        status: choice('--status <status>', 'in this state', STATUSES),
        ...sortedPage('delivery'),
      },
      run: ({ deliveries }, query) => deliveries.list(query),
    }),
    operation('show <delivery>', 'Show a delivery and each of its attempts', {
      run: ({ deliveries }, { delivery }) => deliveries.retrieve(delivery),
      parts: ({ attempts }) => attempts.map(attemptRow),
    }),
    addRedeliver,
  ],
});

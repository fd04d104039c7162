import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery, Florin, WebhookEndpoint, WebhookEndpointChange } from '@florin/sdk';
import type { Command } from 'commander';
import { columnsOf } from '../columns.ts';
import { summaryOf } from '../deliveries.ts';
import { wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand } from '../merchant.ts';
import { merchant } from '../operations.ts';
import { parsed, text } from '../options.ts';
import { resource } from '../resource.ts';
import { show, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** An attempt ends within 30 s; the rest is for a worker to claim it. */
const TEST_WAIT_MS = 40_000;
const LOOK_AGAIN_MS = 300;

const summary = columnsOf<WebhookEndpoint>()('id status types url created', {
  status: ({ status, disabled_reason: reason }) => (reason === null ? status : `${status} (${reason})`),
});

/** Comma-separated names; the API validates them. */
const types = (description: string) =>
  parsed('--types <list>', description, (names) => {
    return names.split(',').map((name) => name.trim()) as NonNullable<WebhookEndpointChange['types']>;
  });

/** Waits for the first attempt's end. */
async function outcomeOf(florin: Florin, delivery: Delivery): Promise<Delivery> {
  const endMs = performance.now() + TEST_WAIT_MS;
  let seen = delivery;
  while (seen.attempts.length === 0 && performance.now() < endMs) {
    await sleep(LOOK_AGAIN_MS);
    seen = await florin.deliveries.retrieve(delivery.id);
  }
  return seen;
}

function addTest(group: Command): void {
  const lines = ['florin endpoints test we_01…', 'florin endpoints test we_01… --no-wait --json'];
  merchantCommand(group, 'test <endpoint>', lines)
    .description('Send a test event to an endpoint and show its response. Exit code 1: not acknowledged.')
    .option('--no-wait', 'do not wait for the answer')
    .action(async (endpoint: string, flags: MerchantFlags & { wait: boolean }, command: Command) => {
      const florin = florinOf(flags);
      const sent = await florin.webhookEndpoints.test(endpoint);
      const delivery = flags.wait ? await outcomeOf(florin, sent) : sent;
      show(command, delivery, summaryOf);
      if (!flags.wait) return;
      const [attempt] = delivery.attempts;
      if (attempt === undefined && !wantsJson(command)) note('No attempt was made yet: is a worker running?');
      if (delivery.status !== 'delivered') process.exitCode = 1;
    });
}

const operation = merchant(summary);

export const addEndpoints = resource({
  name: 'endpoints',
  description: 'Webhook endpoints: where events are sent',
  examples: [
    'florin endpoints create https://shop.example/webhooks',
    'florin endpoints test we_01…',
    'florin endpoints list',
  ],
  operations: [
    operation('create <url>', 'Send events of the store to an https:// address from now on', {
      examples: [
        'florin endpoints create https://shop.example/webhooks',
        'florin endpoints create https://shop.example/payouts --types payout_batch.updated',
      ],
      options: {
        types: types('event types with commas between (default: *, all that the specification names)'),
      },
      run: ({ webhookEndpoints }, input) => webhookEndpoints.create(input),
    }),
    operation('list', 'List the endpoints of the store, newest first', ({ webhookEndpoints }) =>
      webhookEndpoints.list(),
    ),
    operation(
      'update <endpoint>',
      'Change the URL or the event types of an endpoint; pending deliveries go to the new URL, too',
      {
        examples: [
          'florin endpoints update we_01… --url https://shop.example/webhooks',
          'florin endpoints update we_01… --types "*,payout_batch.updated"',
        ],
        options: {
          url: text('--url <url>', 'an https:// address'),
          types: types('event types with commas between; * is all that the specification names'),
        },
        read: ({ endpoint, ...change }) => {
          if (Object.keys(change).length === 0) throw wrongUsage('Give --url, --types or both.');
          return { endpoint, change };
        },
        run: ({ webhookEndpoints }, { endpoint, change }) => webhookEndpoints.update(endpoint, change),
      },
    ),
    operation(
      'disable <endpoint>',
      'Pause an endpoint: its deliveries wait',
      ({ webhookEndpoints }, { endpoint }) => webhookEndpoints.update(endpoint, { status: 'disabled' }),
    ),
    operation(
      'enable <endpoint>',
      'Resume an endpoint: waiting deliveries are sent at once',
      ({ webhookEndpoints }, { endpoint }) => webhookEndpoints.update(endpoint, { status: 'enabled' }),
    ),
    addTest,
  ],
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery, Florin, WebhookEndpoint, WebhookEndpointChange } from '@florin/sdk';
import type { Command } from 'commander';
import { summaryOf } from '../deliveries.ts';
import { examples } from '../examples.ts';
import { wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { show, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** An attempt is over within 30 s; the rest is for a worker to come to it. */
const TEST_WAIT_MS = 40_000;
const LOOK_AGAIN_MS = 300;

interface ChangeFlags extends MerchantFlags {
  url?: string;
  types?: string;
}

type Types = NonNullable<WebhookEndpointChange['types']>;

/** Names with commas between; the API says which there are. */
function typesOf(text: string | undefined): { types?: Types } {
  if (text === undefined) return {};
  return { types: text.split(',').map((name) => name.trim()) as Types };
}

const summary = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  status:
    endpoint.disabled_reason === null ? endpoint.status : `${endpoint.status} (${endpoint.disabled_reason})`,
  types: endpoint.types,
  url: endpoint.url,
  created: timeOf(endpoint.created),
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
    .description('Send a test event to an endpoint and say what came back. Exit code 1: not acknowledged.')
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

function addUpdate(group: Command): void {
  const lines = [
    'florin endpoints update we_01… --url https://shop.example/webhooks',
    'florin endpoints update we_01… --types "*,payout_batch.updated"',
  ];
  merchantCommand(group, 'update <endpoint>', lines)
    .description('Change where an endpoint is or what it is sent; pending deliveries go to the new URL, too')
    .option('--url <url>', 'an https:// address')
    .option('--types <list>', 'event types with commas between; * is all that the specification names')
    .action(async (endpoint: string, flags: ChangeFlags, command: Command) => {
      const change = { ...(flags.url === undefined ? {} : { url: flags.url }), ...typesOf(flags.types) };
      if (Object.keys(change).length === 0) throw wrongUsage('Give --url, --types or both.');
      show(command, await florinOf(flags).webhookEndpoints.update(endpoint, change), summary);
    });
}

export function addEndpoints(program: Command): void {
  const group = program.command('endpoints').description('Webhook endpoints: where events are sent');
  examples(group, [
    'florin endpoints create https://shop.example/webhooks',
    'florin endpoints test we_01…',
    'florin endpoints list',
  ]);

  const createLines = [
    'florin endpoints create https://shop.example/webhooks',
    'florin endpoints create https://shop.example/payouts --types payout_batch.updated',
  ];
  merchantCommand(group, 'create <url>', createLines)
    .description('Send events of the store to an https:// address from now on')
    .option(
      '--types <list>',
      'event types with commas between (default: *, all that the specification names)',
    )
    .action(async (url: string, flags: ChangeFlags, command: Command) => {
      const made = await florinOf(flags).webhookEndpoints.create({ url, ...typesOf(flags.types) });
      show(command, made, summary);
    });

  merchantCommand(group, 'list', ['florin endpoints list', 'florin endpoints list --json'])
    .description('List the endpoints of the store, newest first')
    .action(async (flags: MerchantFlags, command: Command) => {
      const endpoints: WebhookEndpoint[] = [];
      for await (const endpoint of florinOf(flags).webhookEndpoints.list()) endpoints.push(endpoint);
      show(command, endpoints, summary);
    });

  addUpdate(group);
  const states = [
    ['disable', 'disabled', 'Pause an endpoint: its deliveries wait'],
    ['enable', 'enabled', 'Send to an endpoint again: what waits is sent at once'],
  ] as const;
  for (const [verb, status, description] of states) {
    merchantCommand(group, `${verb} <endpoint>`, [`florin endpoints ${verb} we_01…`])
      .description(description)
      .action(async (endpoint: string, flags: MerchantFlags, command: Command) => {
        show(command, await florinOf(flags).webhookEndpoints.update(endpoint, { status }), summary);
      });
  }
  addTest(group);
}

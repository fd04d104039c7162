import { type Delivery, Florin, type WebhookEndpoint } from '@florin/sdk';
import { describe, expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';
import { makeEvent } from './endpoints.ts';

const LONG_MS = 120_000;
/** An address that is refused at once and without a resolver: loopback is not allowed by itself. */
const NOWHERE = 'https://localhost:1/hooks';

const { ask, command: run, read } = useSandbox();
const command = (...words: string[]) => run(words);
const sdk = () => {
  const { base_url: baseUrl, api_key: apiKey, secret_key: secretKey } = read('sandbox.json');
  return new Florin({ baseUrl, apiKey, secretKey });
};

/** The error of a command that is refused. */
async function refusal(...words: string[]): Promise<{ code: string; message: string }> {
  const { code, stdout, stderr } = await command(...words, '--json');
  expect([code, stdout]).toEqual([1, '']);
  return JSON.parse(stderr).error;
}

describe.skipIf(isSecondRun)(
  'florin endpoints, deliveries and stores webhook-key',
  { timeout: LONG_MS },
  () => {
    test('an endpoint is made, changed, tested, disabled, enabled and listed', async () => {
      const made = await ask<WebhookEndpoint>(
        'endpoints',
        'create',
        NOWHERE,
        '--types',
        '*,payout_batch.updated',
      );
      expect(made).toMatchObject({ url: NOWHERE, types: ['*', 'payout_batch.updated'], status: 'enabled' });
      const moved = await ask<WebhookEndpoint>('endpoints', 'update', made.id, '--url', `${NOWHERE}/2`);
      expect(moved).toEqual({ ...made, url: `${NOWHERE}/2` });
      expect(await ask('endpoints', 'update', made.id, '--types', 'invoice.paid')).toMatchObject({
        types: ['invoice.paid'],
      });

      const tested = await command('endpoints', 'test', made.id, '--json');
      expect(tested.code).toBe(1);
      const delivery = JSON.parse(tested.stdout) as Delivery;
      expect(delivery.attempts).toMatchObject([{ failure: 'address_denied', status_code: null }]);
      const shown = await command('deliveries', 'show', delivery.id);
      expect(shown.stdout).toMatch(/^id {2,}whd_/);
      expect(shown.stdout).toMatch(/^ATTEMPT\s[\s\S]*RESULT[\s\S]*\n +1\s[\s\S]*address_denied/m);
      expect(await ask('deliveries', 'show', delivery.id)).toMatchObject({ id: delivery.id });

      expect(await ask('endpoints', 'disable', made.id)).toMatchObject({ status: 'disabled' });
      expect((await refusal('endpoints', 'test', made.id)).message).toContain('disabled');
      const table = await command('endpoints', 'list');
      expect(table.stdout).toMatch(/^ID\s[\s\S]*STATUS\s[\s\S]*TYPES\s[\s\S]*URL\s[\s\S]*CREATED\n/);
      expect(table.stdout).toContain('disabled (by_request)');
      expect(await ask('deliveries', 'list', '--endpoint', made.id)).toMatchObject([{ status: 'paused' }]);
      expect(await ask('endpoints', 'enable', made.id)).toMatchObject({ status: 'enabled' });
      expect(await ask('endpoints', 'list')).toMatchObject([{ id: made.id }]);
      const sent = await ask<Delivery>('endpoints', 'test', made.id, '--no-wait');
      expect(sent.attempts).toEqual([]);
    });

    test('missed events are sent to an endpoint, by the clock of the sandbox', async () => {
      const merchant = { sdk: sdk() } as Parameters<typeof makeEvent>[0];
      await makeEvent(merchant);
      await sdk().testHelpers.advanceClock(86_400);
      await makeEvent(merchant);
      const { id } = await ask<WebhookEndpoint>(
        'endpoints',
        'create',
        NOWHERE,
        '--types',
        'payout_batch.updated',
      );
      const missing = (since: string) =>
        ask('deliveries', 'redeliver', '--endpoint', id, '--since', since, '--which', 'missing');
      await expect
        .poll(() => missing('2h'), { timeout: 30_000 })
        .toEqual({ object: 'redelivery', endpoint_id: id, count: 1 });
      expect(await missing('2h')).toMatchObject({ count: 0 });
      expect(await missing('2d')).toMatchObject({ count: 1 });
      expect(await missing('2001-01-01T00:00:00Z')).toMatchObject({ count: 0 });
      const failed = [
        'deliveries',
        'redeliver',
        '--endpoint',
        id,
        '--since',
        '1000000000',
        '--which',
        'failed',
      ];
      expect(await ask(...failed)).toMatchObject({ count: 0 });
      const [delivery] = await ask<Delivery[]>('deliveries', 'list', '--endpoint', id, '--limit', '1');
      expect((await refusal('deliveries', 'redeliver', delivery?.id ?? '')).message).toContain('pending');
      expect(await ask('deliveries', 'list', '--status', 'delivered')).toEqual([]);
    });

    test('errors are one line; wrong usage exits with 2', async () => {
      const http = await command('endpoints', 'create', 'http://shop.example/');
      expect(http).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^florin: url must begin with https:\/\/ and a host\. See http\S+\/docs\/errors\/invalid_request_error\n$/,
        ),
      });
      expect((await refusal('deliveries', 'show', 'whd_x')).code).toBe('resource_not_found');
      for (const words of [
        ['endpoints', 'update', 'we_x'],
        ['deliveries', 'redeliver'],
        ['deliveries', 'redeliver', 'whd_x', '--which', 'failed'],
        ['deliveries', 'redeliver', '--endpoint', 'we_x', '--which', 'failed'],
        ['deliveries', 'redeliver', '--endpoint', 'we_x', '--since', 'yesterday', '--which', 'failed'],
        ['deliveries', 'list', '--status', 'lost'],
        ['stores', 'webhook-key', 'store_x', 'key_x', '--confirm'],
      ])
        expect([words, (await command(...words)).code]).toEqual([words, 2]);
    });

    test('E9: the key that signs is shown, changed with an overlap, and confirmed', async () => {
      const store: string = read('sandbox.json').store_id;
      const [first] = await ask<{ key_id: string }[]>('keys', 'list');
      const next = await ask<{ key_id: string }>('keys', 'create', store, '--name', 'Next');
      const show = () => ask('stores', 'webhook-key', store);
      const keyOf = (key: string, signs: string, ends: unknown) => ({
        store_id: store,
        webhook_key: key,
        signs_now: signs,
        overlap_ends_at: ends,
      });
      const before = keyOf(first?.key_id ?? '', first?.key_id ?? '', null);
      expect(await show()).toEqual(before);
      expect((await refusal('keys', 'revoke', first?.key_id ?? '')).message).toContain('webhook-key');
      const during = keyOf(next.key_id, first?.key_id ?? '', expect.stringMatching(/^20.*Z$/));
      expect(await ask('stores', 'webhook-key', store, next.key_id, '--overlap', '1h')).toEqual(during);
      expect(await show()).toEqual(during);
      const after = keyOf(next.key_id, next.key_id, null);
      expect(await ask('stores', 'webhook-key', store, '--confirm')).toEqual(after);
      expect(await show()).toEqual(after);
      expect(
        (await refusal('stores', 'webhook-key', store, next.key_id, '--overlap', '40d')).message,
      ).toContain('overlap');
    });
  },
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startService, type TestMerchant, type TestService } from './service.ts';
import { Receivers } from './webhooks/receiver.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '..', 'examples', 'checkout-shop.ts');
const HOOKS = 'https://shop.example/webhooks';
const POLL = { timeout: 60_000 };

let service: TestService;
let merchant: TestMerchant;
let shop: { url: string; log: () => string; stop: () => Promise<unknown> };
const receivers = new Receivers();

async function startShop(): Promise<typeof shop> {
  const env = {
    ...process.env,
    PORT: '0',
    FLORIN_BASE_URL: service.baseUrl,
    FLORIN_API_KEY: merchant.apiKey,
    FLORIN_SECRET_KEY: merchant.secretKey,
  };
  const child = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const port = () => /listening .*port: (\d+)/s.exec(output)?.[1];
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await vi.waitFor(() => expect(port()).toBeDefined(), { timeout: 30_000 });
  } catch (error) {
    await stop();
    throw new Error(`the example does not listen: ${output}`, { cause: error });
  }
  return { url: `http://localhost:${port()}`, log: () => output, stop };
}

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
  merchant = await service.createMerchant({ funds: 0n });
  shop = await startShop();
  // As `florin listen --forward-to` brings a store's events to a server on this machine.
  receivers.behave(HOOKS, async ({ headers, body }) => {
    return (await fetch(`${shop.url}/webhooks`, { method: 'POST', headers, body })).status;
  });
  await merchant.sdk.webhookEndpoints.create({ url: HOOKS });
});
afterAll(async () => {
  await shop?.stop();
  await service?.stop();
});

test('a click leads to the page of a session, twice to the same; paid, the shop says which order it was', async () => {
  const front = await (await fetch(shop.url)).text();
  const order = /action="\/([^"]+)"/.exec(front)?.[1] ?? '';
  const click = () => fetch(`${shop.url}/${order}`, { method: 'POST', redirect: 'manual' });
  const answers = await Promise.all([click(), click()]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  const pages = new Set(answers.map(({ headers }) => headers.get('location')));
  expect(pages.size).toBe(1);
  const [page = ''] = [...pages].map(String);
  expect(page).toMatch(new RegExp(`^${service.baseUrl}/checkout/`));
  expect(await (await fetch(page)).text()).toContain('One coffee');
  const paid = await fetch(`${page}/simulate`, {
    method: 'POST',
    body: new URLSearchParams({ action: 'exact' }),
    redirect: 'manual',
  });
  expect(paid.status).toBe(303);
  await expect.poll(shop.log, POLL).toContain(`paid: order ${order}`);
});

test('while the service refuses, the shop shows it and keeps serving', async () => {
  const refused = await fetch(`${shop.url}/${'x'.repeat(200)}`, { method: 'POST', redirect: 'manual' });
  expect([refused.status, await refused.text()]).toEqual([502, 'Paying is not possible right now.']);
  expect((await fetch(shop.url)).status).toBe(200);
});

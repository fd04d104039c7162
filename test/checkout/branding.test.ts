import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeCommands } from '../../packages/server/src/operator/merchants.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestService } from '../service.ts';
import { checkout } from './requests.ts';

const ADA = 'ada@example.com';
const POLL = { timeout: 30_000 };

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

/** A PNG of one pixel. */
const logoFile = () =>
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

async function branded() {
  const merchant = await service.createMerchant({ funds: 0n });
  const store = encodeId('store', merchant.storeId);
  const commands = storeCommands(service.app);
  return { merchant, store, commands, calls: checkout(service, merchant) };
}

test('name, logo, colour, support and terms of a store are on its pages and in its mails', async () => {
  const { store, commands, calls, merchant } = await branded();
  await commands.rename(store, 'Papelería Ñandú');
  await commands.setLogo(store, logoFile());
  await commands.setAccent(store, '#B3261E');
  await commands.setSupport(store, 'help@shop.example');
  const shown = await commands.setTerms(store, 'https://shop.example/terms');
  expect(shown).toMatchObject({
    name: 'Papelería Ñandú',
    accent: '#b3261e',
    support: 'mailto:help@shop.example',
    terms: 'https://shop.example/terms',
    logo: expect.stringMatching(/^brand\/mer_\w+\/store_\w+\/[0-9a-f]{32}$/),
  });
  const session = await calls.open({ customer_email: ADA });
  const link = await merchant.sdk.paymentLinks.create({ amount: 500n, currency: 'USD' });
  for (const url of [session.url, link.url, `${link.url}/qr`]) {
    const html = await (await fetch(url)).text();
    expect(html).toContain('Papelería Ñandú');
    expect(html).toContain('href="mailto:help@shop.example"');
    expect(html).toContain('href="https://shop.example/terms"');
    expect(html).toContain('--accent:light-dark(#b3261e,');
    // The address of the logo is relative, so that the service may stand below any path of a proxy.
    const [, logo = ''] = /<img class="logo" src="([^"]+)"[^>]* width="40" height="40"/.exec(html) ?? [];
    const answer = await fetch(new URL(logo, url));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get('cache-control')).toContain('immutable');
  }
  await calls.pay(session.id, { network: 'trc20' });
  await expect
    .poll(async () => (await merchant.sdk.mails.list({ kind: 'receipt', to: ADA })).data, POLL)
    .toHaveLength(1);
  const [mail] = (await merchant.sdk.mails.list({ kind: 'receipt', to: ADA })).data;
  const { html, text } = await merchant.sdk.mails.retrieve(mail?.id ?? '');
  expect(text).toContain('help@shop.example');
  expect(text).toContain('https://shop.example/terms');
  expect(html).toContain('.button{background:#b3261e;');
  const [, logo = ''] = /<img class="logo" src="([^"]+)"/.exec(html ?? '') ?? [];
  expect((await fetch(logo)).status).toBe(200);
});

test('what is taken away is gone, and the address of a replaced logo shows nothing', async () => {
  const { store, commands, calls } = await branded();
  const { logo: first } = await commands.setLogo(store, logoFile());
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>',
  );
  const { logo: second } = await commands.setLogo(store, svg);
  expect((await fetch(`${service.baseUrl}/${first}`)).status).toBe(404);
  const answer = await fetch(`${service.baseUrl}/${second}`);
  expect(answer.headers.get('content-type')).toBe('image/svg+xml');
  await commands.setAccent(store, '#b3261e');
  await commands.setSupport(store, 'https://shop.example/help');
  await commands.setLogo(store, null);
  await commands.setSupport(store, null);
  expect(await commands.setAccent(store, null)).toMatchObject({ logo: null, accent: null, support: null });
  expect((await fetch(`${service.baseUrl}/${second}`)).status).toBe(404);
  const html = await (await fetch((await calls.open()).url)).text();
  expect(html).not.toContain('<img');
  expect(html).not.toContain('light-dark(#b3261e');
});

test('a logo of another store is not at an address, and made-up addresses are 404', async () => {
  const { store, commands } = await branded();
  const other = await branded();
  const { logo } = await commands.setLogo(store, logoFile());
  const [, owner = '', , id = ''] = logo?.split('/') ?? [];
  for (const path of [
    `brand/${owner}/${other.store}/${id}`,
    `brand/${owner}/${store}/${'0'.repeat(32)}`,
    `brand/${owner}/${store}/x'--`,
    'brand/mer_1/store_1/%00',
  ])
    expect((await fetch(`${service.baseUrl}/${path}`)).status, path).toBe(404);
});

test('bad values are refused in one line and change nothing', async () => {
  const { store, commands } = await branded();
  const before = await commands.setAccent(store, '#0a58ca');
  await expect(commands.setAccent(store, 'blue')).rejects.toThrow('accent must be a colour such as #0a58ca.');
  await expect(commands.setSupport(store, 'ftp://shop.example')).rejects.toThrow('support must be');
  await expect(commands.setTerms(store, 'http://shop.example')).rejects.toThrow('terms must be a link');
  await expect(commands.setLogo(store, Buffer.from('GIF89a'))).rejects.toThrow('neither a PNG nor an SVG');
  await expect(commands.rename(store, ' ')).rejects.toThrow('name must be');
  expect((await commands.list()).find(({ store_id }) => store_id === store)).toEqual(before);
});

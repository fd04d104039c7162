import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { translatorOf } from './catalogues.ts';
import { type CheckoutView, type PageView, renderList, renderPage, type StoreBrand } from './index.ts';
import { withElements } from './texts.ts';
import { PAGE_LANGUAGES, type PageLanguage } from './views/languages.ts';

/** Closes what it stands in, and would run. */
const HOSTILE = `</title></script><script>alert(1)</script><!-- " onload="x`;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const QR = { size: 1, path: 'M0 0h1v1h-1z' };

const BRAND: StoreBrand = {
  logo: { path: 'brand/store_1/abc', width: 40, height: 40 },
  accent: '#ff0000',
  support: { href: 'https://shop.example/?"><script>alert(1)</script>', text: HOSTILE },
  terms: 'https://shop.example/terms',
};

const CHECKOUT: Omit<CheckoutView, 'language'> = {
  state: 'pay',
  storeName: HOSTILE,
  brand: BRAND,
  description: HOSTILE,
  orderId: HOSTILE,
  period: null,
  price: '$1.00',
  isTest: true,
  isSimulated: true,
  options: [],
  canChoose: true,
  due: {
    token: 'USDT',
    network: 'trc20',
    networkName: 'Tron',
    amount: '1.00',
    address: ADDRESS,
    qr: QR,
    rich: null,
    wallet: null,
    rate: null,
  },
  confirmations: null,
  notices: [],
  secondsLeft: 60,
  secondsTotal: 60,
  rateSecondsLeft: null,
  details: null,
  returnUrl: 'https://shop.example/',
};

/** A view of each page that payers see without script. */
function plainViews(language: PageLanguage): PageView[] {
  const store = { language, storeName: HOSTILE, brand: BRAND, isTest: true };
  const claim = { ...store, amount: '1.00 USDT', network: 'trc20' } as const;
  const items = [{ product: HOSTILE, quantity: 2 }];
  const recurring = { price: '$1.00', interval: 'month' } as const;
  const options = [{ value: 'USDT:trc20', token: 'USDT', networkName: 'Tron' }];
  const invoice = { id: 'in_1', day: 'Feb 1', price: '$1.00', status: 'open', payToken: 'P' } as const;
  const subject = { ...store, description: HOSTILE, price: null };
  const form = { currency: 'USD', example: '12.50', isWhole: false, once: 'o', typed: HOSTILE };
  const subscribe = {
    ...store,
    ...recurring,
    page: 'subscribe',
    isSimulated: true,
    token: 'T',
    items,
    description: HOSTILE,
    freeUntil: 'Feb 1',
    first: { price: '$1.00', period: 'Feb 1' },
    wallets: [],
    cap: '$2.00',
    options,
    invoiceToken: 'P',
    declined: 'other',
    begun: null,
    returnUrl: 'https://shop.example/',
  } as const;
  const subscription = {
    ...recurring,
    id: 'sub_1',
    items,
    status: 'active',
    isOver: false,
    date: { kind: 'next_payment', day: 'Feb 1' },
    wallet: { token: 'USDT', networkName: 'Tron', address: 'T1…2' },
    problem: 'wallet_allowance',
    due: { invoiceId: 'in_1', price: '$1.00', payToken: 'P' },
    lastsUntil: 'Feb 1',
    isEnding: true,
    walletPage: null,
    approval: { token: 'USDT', network: 'spl', spender: 'So1' },
    options,
    invoices: [invoice, { ...invoice, status: 'paid' }],
  } as const;
  const begun = { ...subscription, options: [...options], invoices: [...subscription.invoices] };
  const portal = { ...store, token: 'T' };
  const receipt = { invoiceId: 'in_1', customer: HOSTILE, period: 'Feb', price: '$1.00', paidAt: 'Feb 1' };
  return [
    { page: 'checkout_preview', view: { ...CHECKOUT, language } },
    { ...subject, ...form, page: 'link', fault: null },
    { ...subject, ...form, page: 'link', fault: 'amount_form' },
    { ...subject, page: 'link_poster', price: '$1.00', url: 'https://x.example/', qr: QR },
    { ...claim, page: 'claim', typed: HOSTILE, fault: 'format' },
    { ...claim, page: 'claim_check', address: HOSTILE },
    { ...claim, page: 'claim_outcome', outcome: 'paid', address: HOSTILE, txId: '0x1' },
    { ...subscribe, state: 'choose' },
    { ...subscribe, state: 'done', begun },
    { ...subscribe, state: 'overdue', begun },
    {
      ...portal,
      page: 'portal',
      isSimulated: true,
      returnUrl: 'https://shop.example/',
      isSuspended: true,
      subscriptions: [begun],
      refused: 'refused_text',
    },
    { ...portal, page: 'portal_cancel', id: 'sub_1', items, lastsUntil: 'Feb 1' },
    {
      ...portal,
      ...receipt,
      page: 'receipt',
      items,
      payment: { received: '1 USDT', networkName: 'Tron', txIds: ['0x1'] },
    },
    { page: 'notice', language, code: 'link_closed', store: { storeName: HOSTILE, brand: BRAND } },
    { page: 'trouble', language, kind: 'refused', detail: HOSTILE, requestId: HOSTILE },
  ];
}

test.each([...PAGE_LANGUAGES])(
  'pages in %s are plain HTML that nothing shown can break out of',
  async (language) => {
    for (const view of plainViews(language)) {
      const { html, policy } = await renderPage(view);
      expect(html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
      expect(html, view.page).not.toMatch(/<script|style=|undefined|\[object|\{\w+\}(?![^<]*<\/style)/);
      // What could end an attribute is escaped in it.
      expect(html).not.toContain('" onload="x');
      expect(policy).not.toHaveProperty('script-src');
    }
  },
);

test('the policy allows the style of the page by its hash, and no other', async () => {
  const { html, policy } = await renderPage({
    page: 'notice',
    language: 'en',
    code: 'link_busy',
    store: null,
  });
  const [, css = ''] = /<style>(.*)<\/style>/s.exec(html) ?? [];
  expect(css).toContain('--accent');
  expect(policy['style-src']).toBe(`'sha256-${createHash('sha256').update(css).digest('base64')}'`);
});

test("a store's colour is a style of its own, allowed by its hash; its logo is found from each depth of addresses", async () => {
  const depths = { link: '../', link_poster: '../../', claim: '../../', portal: '../', receipt: '../../../' };
  for (const view of plainViews('en')) {
    const { html, policy } = await renderPage(view);
    const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = '']) => css);
    if (view.page === 'trouble') continue;
    expect(styles.at(-1)).toContain('--accent:light-dark(#');
    for (const css of styles)
      expect(policy['style-src']).toContain(`'sha256-${createHash('sha256').update(css).digest('base64')}'`);
    const root = Object.entries(depths).find(([page]) => page === view.page)?.[1];
    if (root !== undefined) expect(html).toContain(`src="${root}brand/store_1/abc"`);
    expect(html).toContain('https://shop.example/terms');
  }
});

test('the data that the checkout page starts from cannot end its script element', async () => {
  const view = { ...CHECKOUT, language: 'en' } as const;
  const { html, policy } = await renderPage({
    page: 'checkout',
    view,
    token: 'T',
    choosing: null,
    isAutoReturn: false,
  });
  expect(html).not.toContain('<script>alert');
  const [, json = ''] = /id="data">(.*?)<\/script>/.exec(html) ?? [];
  expect(JSON.parse(json)).toMatchObject({ view, token: 'T' });
  expect(policy['script-src']).toBe("'self'");
});

test('an ending names what was paid, and links each transaction to the explorer that its network has', async () => {
  const details = {
    asked: '1.00 USDT',
    received: '0.40 USDT',
    refunding: '0.20 USDT',
    refunded: '0.10 USDT',
    network: 'erc20',
    networkName: 'Ethereum',
    address: ADDRESS,
    transactions: [
      { id: '0xaa', url: 'https://etherscan.io/tx/0xaa', amount: '0.15 USDT' },
      { id: '0xbb', url: null, amount: '0.25 USDT' },
    ],
    paidAt: null,
  } as const;
  const transactions = [...details.transactions];
  for (const state of ['confirming', 'expired', 'canceled', 'paid'] as const) {
    const view = {
      ...CHECKOUT,
      language: 'en',
      state,
      due: null,
      details: { ...details, transactions },
    } as const;
    const page = { page: 'checkout', view, token: 'T', choosing: null, isAutoReturn: false } as const;
    const { html } = await renderPage(page);
    for (const text of [
      '1.00 USDT',
      '0.40 USDT',
      '<bdi>0.25 USDT</bdi>',
      '0.20 USDT',
      '0.10 USDT',
      'Ethereum',
      ADDRESS,
      '0xaa',
      '0xbb',
    ])
      expect(html, state).toContain(text);
    expect([...html.matchAll(/href="(https:\/\/etherscan[^"]+)"/g)].map(([, href]) => href)).toEqual([
      'https://etherscan.io/tx/0xaa',
    ]);
  }
});

test('a page that waits loads itself again where there is no script, and one that is being read does not', async () => {
  const reloads = async (state: CheckoutView['state']) => {
    const view = { ...CHECKOUT, language: 'en', state } as const;
    const page = { page: 'checkout', view, token: 'T', choosing: null, isAutoReturn: false } as const;
    return (await renderPage(page)).html.includes('<noscript><meta http-equiv="refresh"');
  };
  for (const state of ['pay', 'confirming', 'closing', 'frozen'] as const)
    expect(await reloads(state), state).toBe(true);
  for (const state of ['choose', 'paid', 'expired', 'canceled'] as const)
    expect(await reloads(state), state).toBe(false);
});

test("the inbox's blocks change their version with their content", async () => {
  const event = {
    id: 'evt_1',
    type: 'a.b',
    resource: HOSTILE,
    sequence: '1',
    createdAt: '2026-01-01T00:00:00Z',
  };
  const versionOf = async (body: string) => {
    const html = await renderList({
      page: 'inbox',
      endpoints: [],
      events: [{ ...event, body, deliveries: [] }],
    });
    expect(html).not.toContain('<script');
    return /id="evt_1"[^>]*data-version="([^"]+)"/.exec(html)?.[1];
  };
  expect(await versionOf('{}')).toBe(await versionOf('{}'));
  expect(await versionOf('{}')).not.toBe(await versionOf('{"a":1}'));
});

test('a value keeps its own direction', () => {
  const titleOf = (language: PageLanguage, store: string) =>
    translatorOf('link', language)('title', { store });
  expect(titleOf('en', 'Shop')).toBe('Pay Shop');
  expect(titleOf('en', 'متجر')).toBe('Pay \u2068متجر\u2069');
  expect(titleOf('ar', 'Shop')).toContain('\u2068Shop\u2069');
});

test('text of another direction lies at the side of the page’s own: no block takes its direction from what it holds', () => {
  const files = globSync('**/*.tsx', { cwd: import.meta.dirname });
  expect(files.length).toBeGreaterThan(20);
  const sources = files.map((file) => readFileSync(path.join(import.meta.dirname, file), 'utf8')).join('\n');
  expect(sources).toContain('<bdi>');
  expect(sources.match(/<(?!span|bdi|b|a)[a-z][^<>]*dir="auto"/g)).toBeNull();
});

test('a text of the catalogue takes no direction from the value that it begins with', async () => {
  for (const view of plainViews('ar')) {
    const { html } = await renderPage(view);
    expect(html, view.page).not.toMatch(/<bdi>[^<]*\u2068[^<]*\p{Script=Arabic}/u);
  }
});

test('elements are placed where their names are', () => {
  expect(withElements('{b} and {a}.', { a: 1, b: 2 })).toEqual(['', 2, ' and ', 1, '.']);
});

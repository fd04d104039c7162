import { gzipSync } from 'node:zlib';
import { NETWORKS } from '@florin/contract/money';
import { builtConsole } from '../packages/console/src/index.ts';
import {
  builtPages,
  type CheckoutView,
  type FrontView,
  NETWORK_NAMES,
  PAGE_LANGUAGES,
  renderPage,
  type SubscribeView,
} from '../packages/pages/src/index.ts';
import { qrCodeOf } from '../packages/server/src/checkout/page/qr-code.ts';
import { FAILED, PASSED, type Step } from './step.ts';

/** What a payer's phone loads before a wallet is chosen: the page with its style and words, and its script. */
const BYTES_MAX = 30_000;
/** What it loads once one is chosen. */
const WALLET_BYTES_MAX = 4_000;

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const VIEW: Omit<CheckoutView, 'language'> = {
  state: 'pay',
  storeName: 'A shop with a name of usual length',
  brand: {
    logo: {
      path: `brand/mer_01hzy3v9k2e7q8r5t6w1x4a0bc/store_01hzy3v9k2e7q8r5t6w1x4a0bc/${'0'.repeat(32)}`,
      width: 120,
      height: 40,
    },
    accent: '#b3261e',
    support: { href: 'mailto:help@shop.example', text: 'help@shop.example' },
    terms: 'https://shop.example/terms',
  },
  description: 'A description that says in a line what is paid for',
  orderId: 'A-2026-000017',
  period: null,
  price: '$1,234.56',
  isTest: true,
  isSimulated: true,
  options: ['USDT', 'USDC'].flatMap((token) =>
    (['erc20', 'trc20', 'spl'] as const).map((hint) => ({
      value: `${token}:${hint}`,
      token,
      network: hint,
      networkName: 'Ethereum',
      hint,
      amount: '≈ 1234.56 USDT',
    })),
  ),
  canChoose: true,
  due: {
    token: 'USDT',
    network: 'erc20',
    networkName: 'Ethereum',
    amount: '1234.56',
    address: ADDRESS,
    qr: qrCodeOf(ADDRESS),
    rich: { uri: `ethereum:${ADDRESS}`, qr: qrCodeOf(`ethereum:${ADDRESS}@1/transfer?address=${ADDRESS}`) },
    wallet: { kind: 'ethereum', chainId: 1, contract: ADDRESS },
    rate: '1 USDT = $1.00',
  },
  confirmations: null,
  notices: [{ code: 'underpaid', sent: '1.00 USDT', missing: '1233.56 USDT' }],
  secondsLeft: 1_800,
  secondsTotal: 1_800,
  rateSecondsLeft: 900,
  details: null,
  returnUrl: 'https://shop.example/cart',
};

const TOKENS = ['USDT', 'USDC'];
const CHARGED = {
  spender: ADDRESS,
  explorer: null,
  options: TOKENS.map((token) => ({ token, contract: ADDRESS })),
};
const SUBSCRIBE: Omit<SubscribeView, 'language'> = {
  page: 'subscribe',
  storeName: VIEW.storeName,
  brand: VIEW.brand,
  isTest: true,
  isSimulated: false,
  token: 'x'.repeat(66),
  state: 'choose',
  price: '$1,234.56',
  interval: 'month',
  items: [{ product: 'A plan with a name of usual length', quantity: 2 }],
  description: VIEW.description,
  freeUntil: null,
  first: null,
  cap: '$2,469.12',
  options: NETWORKS.flatMap((network) =>
    TOKENS.map((token) => ({ value: `${token}:${network}`, token, networkName: NETWORK_NAMES[network] })),
  ),
  wallets: [
    { ...CHARGED, network: 'erc20', kind: 'ethereum', chain: { id: 1, name: 'Ethereum', endpoint: null } },
    { ...CHARGED, network: 'trc20', kind: 'tron', chainId: 1, name: 'Tron' },
    { ...CHARGED, network: 'spl', kind: 'solana', chain: 'solana:mainnet', name: 'Solana' },
  ],
  invoiceToken: 'x'.repeat(66),
  declined: null,
  begun: null,
  returnUrl: 'https://shop.example/cart',
};

const ID = '01hzy3v9k2e7q8r5t6w1x4a0bc';
const FRONT: Omit<FrontView, 'page'> = {
  version: '0.1.0',
  merchant: { name: 'Sandbox', id: `mer_${ID}`, storeId: `str_${ID}` },
  networks: ['Ethereum', 'Tron', 'Solana'].map((name) => ({ name, height: '123456' })),
  signedRequest: 'npx florin sign GET /api/v1/balances | sh',
  checkoutPath: '/sandbox/checkout',
  inboxPath: '/sandbox/webhooks',
  mailsPath: '/sandbox/mails',
  scriptPath: '/sandbox/live.js',
  listPath: '/sandbox/events',
  events: Array.from({ length: 10 }, (_, i) => ({
    id: `evt_${ID}${i}`,
    type: 'payout_batch.updated',
    resource: `pb_${ID}${i}`,
    createdAt: '2026-01-01T00:00:00Z',
  })),
};

export const pageWeightStep: Step = {
  name: `weight of the payer's page and of the front page (${BYTES_MAX / 1_000} kB compressed at most)`,
  run: async () => {
    const { scripts, files } = await builtPages();
    const script = files.get(scripts.checkout.name)?.gzip.length ?? 0;
    const entries = new Set(Object.values(scripts).map(({ name }) => name));
    const later = [...files].filter(([name]) => !entries.has(name));
    const weights: { page: string; bytes: number; script: number }[] = [];
    for (const language of PAGE_LANGUAGES) {
      const view = { ...VIEW, language };
      const { html } = await renderPage({
        page: 'checkout',
        view,
        token: 'x'.repeat(66),
        choosing: null,
        isAutoReturn: false,
      });
      weights.push({ page: language, bytes: gzipSync(html).length + script, script });
    }
    const subscribe = files.get(scripts.subscribe.name)?.gzip.length ?? 0;
    for (const language of PAGE_LANGUAGES) {
      const { html } = await renderPage({ ...SUBSCRIBE, language });
      weights.push({
        page: `subscription, ${language}`,
        bytes: gzipSync(html).length + subscribe,
        script: subscribe,
      });
    }
    const live = files.get(scripts.live.name)?.gzip.length ?? 0;
    const front = await renderPage({ page: 'front', ...FRONT });
    weights.push({ page: 'front page', bytes: gzipSync(front.html).length + live, script: live });
    for (const { page, bytes, script: own } of weights)
      console.log(`${page}: ${bytes} bytes, ${own} of them script`);
    for (const [name, { gzip }] of later)
      console.log(`once a wallet is chosen, ${name}: ${gzip.length} bytes`);
    const isLight = weights.every(({ bytes }) => bytes <= BYTES_MAX);
    // Of checkout and of subscriptions alike: finding wallets of Solana, a file for each network, and common steps. Another would be a
    // piece of a page.
    const areSmall = later.length === 13 && later.every(([, { gzip }]) => gzip.length <= WALLET_BYTES_MAX);
    return isLight && areSmall ? PASSED : FAILED;
  },
};

/** What a browser loads before it shows any page of the console. */
const CONSOLE_BYTES_MAX = 190_000;

export const consoleWeightStep: Step = {
  name: `weight of the console's start (${CONSOLE_BYTES_MAX / 1_000} kB compressed at most)`,
  run: async () => {
    const { html, files } = await builtConsole();
    const ofStart = [...files.values()].filter(({ isOfStart }) => isOfStart);
    const bytes = ofStart.reduce((sum, { size }) => sum + size, gzipSync(html).length);
    console.log(
      `${bytes} bytes in ${ofStart.length} files; ${files.size - ofStart.length} files are loaded later`,
    );
    return ofStart.length >= 2 && bytes <= CONSOLE_BYTES_MAX ? PASSED : FAILED;
  },
};

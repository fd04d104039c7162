import { gzipSync } from 'node:zlib';
import {
  builtPages,
  type CheckoutView,
  type FrontView,
  PAGE_LANGUAGES,
  renderPage,
} from '../packages/pages/src/index.ts';
import { qrCodeOf } from '../packages/server/src/checkout/page/qr-code.ts';
import { FAILED, PASSED, type Step } from './step.ts';

/** What a payer's phone loads before a wallet is chosen: the page with its style and words, and its script. */
const BYTES_MAX = 30_000;

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

const ID = '01hzy3v9k2e7q8r5t6w1x4a0bc';
const FRONT: Omit<FrontView, 'page'> = {
  version: '0.1.0',
  merchant: { name: 'Sandbox', id: `mer_${ID}`, storeId: `str_${ID}` },
  networks: ['Ethereum', 'Tron', 'Solana'].map((name) => ({ name, height: '123456' })),
  signedRequest: 'npx florin sign GET /api/v1/balances | sh',
  checkoutPath: '/sandbox/checkout',
  inboxPath: '/sandbox/webhooks',
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
    const own = [...files].filter(([name]) => name !== scripts.live.name);
    const script = own.reduce((sum, [, { gzip }]) => sum + gzip.length, 0);
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
    const live = files.get(scripts.live.name)?.gzip.length ?? 0;
    const front = await renderPage({ page: 'front', ...FRONT });
    weights.push({ page: 'front page', bytes: gzipSync(front.html).length + live, script: live });
    for (const { page, bytes, script: own } of weights)
      console.log(`${page}: ${bytes} bytes, ${own} of them script`);
    return weights.every(({ bytes }) => bytes <= BYTES_MAX) ? PASSED : FAILED;
  },
};

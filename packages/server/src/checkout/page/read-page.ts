import { setTimeout as sleep } from 'node:timers/promises';
import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import type { CheckoutView, PageLanguage } from '@florin/pages';
import type { NetworkFacts } from '../../chains/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { findRate } from '../../payments/quotes/index.ts';
import { type PaymentView, readPayerPayment } from '../../payments/reads/index.ts';
import { payAmount } from '../../rates/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { type FoundPage, findPage } from './find-page.ts';
import { checkoutView } from './view.ts';

/** Reads the view of a payer's page. */
export async function readPage(
  deps: PaymentDeps,
  { token }: Pick<FoundPage, 'token'>,
  language: PageLanguage,
): Promise<CheckoutView | undefined> {
  // Read again each time: the merchant's clock may have moved.
  const page = await findPage(deps.db, token);
  if (page === undefined) return undefined;
  const payment = await readPayerPayment(deps, page.merchant, page.session);
  const { seconds: nowSeconds } = merchantTime(deps, page.merchant);
  const networks = networksOf(deps, page);
  const isTest = deps.chains.isTest(page.merchant);
  const amounts = await amountsOf(deps, page, payment.view);
  return checkoutView({ ...payment, page, language, nowSeconds, networks, amounts, isTest });
}

/** How long a page waits for a rate that only shows an amount before the choice. */
const RATE_WAIT_MS = 500;

/** What would have to be sent in each token at the rate of now, while a token can be chosen. */
async function amountsOf(
  deps: PaymentDeps,
  { merchant, session }: FoundPage,
  { payment }: PaymentView,
): Promise<ReadonlyMap<Asset, bigint>> {
  const amounts = new Map<Asset, bigint>();
  if (payment.status !== 'pending' || payment.fixed_currency !== null) return amounts;
  const offered = ASSETS.filter((asset) => session.options.some(({ currency }) => currency === asset));
  const read = offered.map(async (token) => {
    const rate = await findRate(deps, merchant, payment.currency, token);
    if (rate !== undefined) amounts.set(token, payAmount(payment, token, rate));
  });
  // Without an amount the page is whole all the same: a slow source, or a price beyond what a token can carry.
  const timer = new AbortController();
  await Promise.race([
    Promise.allSettled(read),
    sleep(RATE_WAIT_MS, undefined, { signal: timer.signal }).catch(() => {}),
  ]);
  timer.abort();
  return new Map(amounts);
}

function networksOf({ chains }: PaymentDeps, { merchant, session }: FoundPage) {
  const networks = new Map<Network, NetworkFacts>();
  for (const { network } of session.options) {
    const facts = chains.facts(merchant, network);
    if (facts !== undefined) networks.set(network, facts);
  }
  return networks;
}

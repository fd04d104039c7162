import type { Network } from '@florin/contract/money';
import type { CheckoutView, PageLanguage } from '@florin/pages';
import type { NetworkFacts } from '../../chains/index.ts';
import {
  chooseOption,
  currentOption,
  isQuoteDue,
  type PaymentDeps,
  type PaymentView,
  paymentSettings,
  quoteStatusOf,
  readPayment,
  rulesOf,
} from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { type FoundPage, findPage } from './find-page.ts';
import { checkoutView } from './view.ts';

/** Reads the view of a payer's page. Renews a quote that has ended, so that no page shows an invalid rate. */
export async function readPage(
  deps: PaymentDeps,
  { token }: Pick<FoundPage, 'token'>,
  language: PageLanguage,
): Promise<CheckoutView | undefined> {
  // Read again each time: the merchant's clock may have moved.
  const page = await findPage(deps.db, token);
  if (page === undefined) return undefined;
  const { merchant, session } = page;
  const known = await readPayment(deps.db, merchant.merchantId, session.payment_id);
  const { view, lacksRate } = await withFreshQuote(deps, page, known);
  const { seconds: nowSeconds } = merchantTime(deps, merchant);
  const rules = rulesOf(view, await paymentSettings(deps, merchant));
  const networks = networksOf(deps, page);
  const isTest = deps.chains.isTest(merchant);
  return checkoutView({ page, view, rules, language, nowSeconds, networks, isTest, lacksRate });
}

function networksOf({ chains }: PaymentDeps, { merchant, session }: FoundPage) {
  const networks = new Map<Network, NetworkFacts>();
  for (const { network } of session.options) {
    const facts = chains.facts(merchant, network);
    if (facts !== undefined) networks.set(network, facts);
  }
  return networks;
}

async function withFreshQuote(
  deps: PaymentDeps,
  { merchant, session }: FoundPage,
  view: PaymentView,
): Promise<{ view: PaymentView; lacksRate: boolean }> {
  const { payment } = view;
  const option = currentOption(view);
  const { seconds } = merchantTime(deps, merchant);
  // Also while dust is processing, since dust holds no quote.
  const isUnpaid = payment.status === 'pending' || payment.status === 'processing';
  const isOpen = isUnpaid && (payment.expires_at === null || seconds < Number(payment.expires_at));
  if (merchant.isSuspended || !isOpen || option === undefined) return { view, lacksRate: false };
  if (isQuoteDue(view)) return { view, lacksRate: true };
  if (quoteStatusOf(view, option, seconds) !== 'over') return { view, lacksRate: false };
  try {
    return { view: await chooseOption(deps, merchant, session, option), lacksRate: false };
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'service_unavailable') throw error;
    return { view, lacksRate: true };
  }
}

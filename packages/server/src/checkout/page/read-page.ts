import type { Network } from '@florin/contract/money';
import type { CheckoutView, PageLanguage } from '@florin/pages';
import type { NetworkFacts } from '../../chains/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { readPayerPayment } from '../../payments/reads/index.ts';
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
  return checkoutView({ ...payment, page, language, nowSeconds, networks, isTest });
}

function networksOf({ chains }: PaymentDeps, { merchant, session }: FoundPage) {
  const networks = new Map<Network, NetworkFacts>();
  for (const { network } of session.options) {
    const facts = chains.facts(merchant, network);
    if (facts !== undefined) networks.set(network, facts);
  }
  return networks;
}

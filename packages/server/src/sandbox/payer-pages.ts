import { ASSETS, UNITS_PER_TOKEN } from '@florin/contract/money';
import type { SessionPayInput } from '@florin/contract/schemas';
import { type FoundPage, sessionForm } from '../checkout/page/index.ts';
import { scanJob } from '../payments/deposits/index.ts';
import { chooseOption, endPaymentNow } from '../payments/index.ts';
import { currentOption, type PaymentView, readPayment } from '../payments/reads/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { TokenBuckets } from '../platform/http/index.ts';
import { formOf, type PublicPage } from '../platform/http/pages/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { SandboxDeps } from './fund.ts';
import { payAs, type Sent } from './pay-session.ts';
import { reachChain } from './reach-chain.ts';

/** Rate limit per page, for a person who clicks. */
const CLICKS = { perSecond: 1, burst: 20 };
const BUCKETS_MAX = 1_000;
/** The share of an underpayment, and the excess of an overpayment. */
const LESS_PERCENT = 60n;
const MORE_UNITS = 5n * UNITS_PER_TOKEN;

const ACTIONS = ['wallet', 'exact', 'less', 'more', 'wrong', 'frozen', 'late', 'expire', 'reorg'] as const;
type Action = (typeof ACTIONS)[number];

/**
 * The endpoints of the test panel and the simulated wallet on a sandbox merchant's page. Everybody with the page's URL may
 * call them, so each affects the page's own payment only; the merchant's clock moves by signed calls only. Live merchants'
 * pages have none of this.
 */
export function payerPages(deps: SandboxDeps): PublicPage[] {
  const buckets = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  return [
    sessionForm(deps, 'simulate', async ({ page, request, wantsJson }) => {
      if (page.merchant.mode !== 'sandbox') return false;
      buckets.takeOrRefuse(page.session.session_id, deps.clock.nowMs(), 'Too many clicks on this page.');
      const action = ACTIONS.find((known) => known === formOf(request).get('action'));
      if (action === undefined) throw new Fail('invalid_request', 'The test panel has no such action.');
      // A suspended merchant's page shows that nothing can be paid.
      if (page.merchant.isSuspended) return true;
      try {
        await play(deps, page, action);
      } catch (error) {
        // Without script the page is shown unchanged.
        if (!(error instanceof Fail) || wantsJson) throw error;
      }
      return true;
    }),
  ];
}

async function play(deps: SandboxDeps, page: FoundPage, action: Action): Promise<void> {
  const { merchant, session } = page;
  const view = await readPayment(deps.db, merchant.merchantId, session.payment_id);
  switch (action) {
    case 'expire':
      return await endPaymentNow(deps, merchant, view.payment.payment_id);
    case 'late':
      await endPaymentNow(deps, merchant, view.payment.payment_id);
      return await pay(deps, page, view, {});
    case 'reorg':
      return await dropBlocks(deps, page, view);
    case 'wrong': {
      const at = choiceOf(page, view);
      return await pay(deps, page, view, { currency: otherOf(at.currency), at });
    }
    case 'frozen':
      return await pay(deps, page, view, { from: 'sanctioned' });
    case 'wallet':
      return await pay(deps, page, view, { connected: true });
    case 'exact':
    case 'less':
    case 'more':
      return await pay(deps, page, view, await amountOf(deps, page, view, action));
  }
}

const otherOf = (token: string) => ASSETS.find((asset) => asset !== token) ?? ASSETS[0];

/** The current option, else the first one. @throws Fail if the session has none */
function choiceOf({ session }: FoundPage, view: PaymentView) {
  const choice = currentOption(view) ?? session.options[0];
  if (choice === undefined) throw new Fail('invalid_request', 'Nothing can be paid here.');
  return { currency: choice.currency, network: choice.network };
}

async function pay(
  deps: SandboxDeps,
  page: FoundPage,
  view: PaymentView,
  more: Partial<Sent>,
): Promise<void> {
  // Not final at once, so that the page shows confirmations.
  const input = { ...choiceOf(page, view), final: false, ...more };
  await payAs(deps, page.merchant, page.session, input);
}

/** An amount above or below the rest; the exact rest needs none. */
async function amountOf(
  deps: SandboxDeps,
  page: FoundPage,
  view: PaymentView,
  action: 'exact' | 'less' | 'more',
): Promise<Partial<SessionPayInput>> {
  if (action === 'exact') return {};
  const chosen = await chooseOption(deps, page.merchant, page.session, choiceOf(page, view));
  const sent = chosen.transactions
    .filter((t) => t.kind === 'counted' && t.status !== 'gone')
    .reduce((sum, t) => sum + t.amount, 0n);
  const rest = (currentOption(chosen)?.pay_amount ?? 0n) - sent;
  if (rest <= 1n) throw new Fail('invalid_request', 'Nothing is left to pay.');
  return { amount: Number(action === 'less' ? (rest * LESS_PERCENT) / 100n : rest + MORE_UNITS) };
}

/** Replaces the blocks from the payment's newest seen transfer on; sends one first if none was seen. */
async function dropBlocks(deps: SandboxDeps, page: FoundPage, before: PaymentView): Promise<void> {
  const { merchantId } = page.merchant;
  const isSeen = before.transactions.some((t) => t.status === 'seen');
  if (!isSeen) await pay(deps, page, before, {});
  const view = isSeen ? before : await readPayment(deps.db, merchantId, page.session.payment_id);
  const newest = view.transactions.findLast((t) => t.status === 'seen');
  if (newest === undefined)
    throw new Fail('invalid_request', 'The payment was final before it could be dropped.');
  const chain = deps.chains.sandbox(merchantId, newest.network);
  await reachChain(async () => {
    const { finalHeight } = await chain.height();
    if (BigInt(newest.height) <= finalHeight) {
      throw new Fail('invalid_request', 'The payment was final before it could be dropped.');
    }
    // Other payments' transfers are mined again.
    const vanishing = view.transactions.map((t) => t.tx_id);
    await chain.reorgFrom(BigInt(newest.height), { remine: true, vanishing });
  });
  await transact(deps.db, (tx) => enqueue(tx, [scanJob(merchantId, newest.network, deps.clock.nowMs())]));
}

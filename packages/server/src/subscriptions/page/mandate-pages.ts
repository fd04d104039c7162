import { ASSETS, NETWORKS } from '@florin/contract/money';
import { ChainUnavailable, type MandateSetup, type MandateStep } from '../../chains/port/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
} from '../../platform/http/pages/index.ts';
import { getMerchant } from '../../stores/index.ts';
import type { SubscriptionDeps } from '../deps.ts';
import {
  approvedOf,
  offerMandate,
  requireDueFunds,
  takeSignedMandate,
  type WalletChoice,
} from '../offer-mandate.ts';
import { SUBSCRIBE_PATH } from '../page-token.ts';
import { findSubscribePage, type SubscribePage } from './find-subscribe-page.ts';
import { mandateWallets, walletOptions } from './shown.ts';

// What the subscribe page's script asks for a wallet: the terms, and then that they are signed. Answers are JSON.

/** A contract's wallet signs with kilobytes. */
const BODY_BYTES_MAX = 16_384;
const RETRY_SECONDS = 5;

type Limit = (request: PageRequest, key: string) => Promise<PageAnswer | undefined>;

export function mandatePages(deps: SubscriptionDeps, limit: Limit): PublicPage[] {
  const page = (path: string, answer: (page: SubscribePage, form: URLSearchParams) => Promise<unknown>) => ({
    method: 'POST' as const,
    path: `${SUBSCRIBE_PATH}/{token}/mandate/${path}`,
    bodyBytesMax: BODY_BYTES_MAX,
    handle: async (request: PageRequest): Promise<PageAnswer> => {
      const found = await findSubscribePage(deps.db, request.params.token ?? '');
      if (found === undefined) throw new Fail('resource_not_found', 'There is no such page.');
      if (found.merchant.isSuspended) throw new Fail('invalid_request', 'The store begins nothing now.');
      const busy = await limit(request, found.subscription.subscription_id);
      return busy ?? jsonAnswer(await answer(found, formOf(request, BODY_BYTES_MAX)));
    },
  });
  return [
    page('offer', async (found, form) => {
      const { subscription } = found;
      const choice = await acceptedChoice(deps, found, form);
      const merchant = await getMerchant(deps.db, subscription.merchant_id);
      return presentSetup(await offerMandate(deps, merchant, subscription, choice));
    }),
    page('approval', async (found, form) => {
      const choice = await acceptedChoice(deps, found, form);
      const [amount, cap] = [digitsOf(form, 'amount'), BigInt(digitsOf(form, 'cap'))];
      return await approvalOf(deps, found, { ...choice, amount, cap });
    }),
    page('sign', async (found, form) => {
      const { subscription } = found;
      const choice = await acceptedChoice(deps, found, form);
      const merchant = await getMerchant(deps.db, subscription.merchant_id);
      const signed = {
        ...choice,
        ...termsOf(form),
        ...permitOf(form),
        signature: form.get('signature') ?? '',
      };
      const { status } = await takeSignedMandate(deps, merchant, subscription, signed);
      return { status };
    }),
  ];
}

const jsonAnswer = (body: unknown): PageAnswer => ({
  status: 200,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
  headers: { 'cache-control': 'no-store' },
});

/** What the wallet is asked for; amounts are decimal digits. */
function presentSetup({ mandate, spender, steps }: MandateSetup) {
  return {
    mandate_id: mandate.mandateId,
    wallet: mandate.payer,
    cap: String(mandate.cap),
    subscriptions: mandate.subscriptions ?? 1,
    starts_at: mandate.startsAt,
    spender,
    steps: steps.map(presentStep),
  };
}

function presentStep(step: MandateStep) {
  if (step.kind === 'activate')
    return { kind: step.kind, typed_data: step.typedData ?? null, message: step.message ?? null };
  const approval = { kind: step.kind, spender: step.spender, amount: String(step.amount) };
  if (step.kind === 'approve') return { ...approval, transaction: step.transaction ?? null };
  const { nonce, deadline, typedData } = step;
  return { ...approval, nonce: String(nonce), deadline, typed_data: typedData ?? null };
}

const refuse = (param: string) =>
  new Fail('invalid_request', { message: `${param} is missing or has a form that is not allowed.`, param });

function choiceOf(form: URLSearchParams): WalletChoice {
  const currency = ASSETS.find((known) => known === form.get('currency'));
  const network = NETWORKS.find((known) => known === form.get('network'));
  const wallet = form.get('wallet');
  if (currency === undefined) throw refuse('currency');
  if (network === undefined) throw refuse('network');
  if (wallet === null) throw refuse('wallet');
  return { currency, network, wallet };
}

/** @throws Fail `invalid_request` for what the store does not take, such as a token whose wallet of ours is frozen */
async function acceptedChoice(
  deps: SubscriptionDeps,
  { merchant, subscription }: SubscribePage,
  form: URLSearchParams,
): Promise<WalletChoice> {
  const choice = choiceOf(form);
  const accepted = await walletOptions(deps, merchant, subscription.currency);
  const isAccepted = accepted.some(({ value }) => value === `${choice.currency}:${choice.network}`);
  const isCharged =
    merchant.mode === 'sandbox' ||
    (await mandateWallets(deps, merchant, accepted)).some(({ network }) => network === choice.network);
  if (isAccepted && isCharged) return choice;
  const message = 'The store does not charge wallets in this token on this network.';
  throw new Fail('invalid_request', { message, param: 'currency' });
}

const DIGITS = /^(0|[1-9][0-9]{0,17})$/;

/** An approval that the wallet has signed; both fields or none. */
function permitOf(form: URLSearchParams) {
  const [nonce, signature] = [form.get('permit_nonce'), form.get('permit_signature')];
  if (nonce === null && signature === null) return {};
  if (nonce === null || signature === null || !DIGITS.test(nonce)) throw refuse('permit');
  return { permit: { nonce: BigInt(nonce), signature } };
}

function digitsOf(form: URLSearchParams, name: string): string {
  const text = form.get(name) ?? '';
  if (!DIGITS.test(text)) throw refuse(name);
  return text;
}

const termsOf = (form: URLSearchParams) => ({
  cap: BigInt(digitsOf(form, 'cap')),
  subscriptions: Number(digitsOf(form, 'subscriptions')),
  startsAt: Number(digitsOf(form, 'starts_at')),
});

/**
 * The approval that a wallet signs as a whole transaction, as it stands now: null once it allows as much.
 *
 * @throws Fail `invalid_request` with the param that says what the wallet lacks
 */
async function approvalOf(
  deps: SubscriptionDeps,
  { merchant, subscription }: SubscribePage,
  { amount, cap, ...choice }: WalletChoice & { amount: string; cap: bigint },
): Promise<{ amount: string; transaction: string | null }> {
  const units = BigInt(amount);
  if (units === 0n) throw refuse('amount');
  const { network, currency: asset, wallet: from } = choice;
  const approval = { from, asset, units, added: approvedOf({ cap }, subscription) };
  const found = await deps.chains.payerCalls(merchant, network)?.payerApproval(approval).catch(unlessAway);
  if (found === undefined) throw refuse('wallet');
  if ('isApproved' in found) return { amount, transaction: null };
  if ('transaction' in found) {
    const whole = await getMerchant(deps.db, subscription.merchant_id);
    await requireDueFunds(deps, whole, subscription, choice);
    return { amount: String(found.units), transaction: found.transaction };
  }
  if ('isChanged' in found) throw lacks('cap', 'The wallet has approved another amount meanwhile.');
  if ('refused' in found) throw lacks('token', 'The token refuses an approval of this wallet now.');
  if (found.short === 'token') throw lacks('account', `The wallet holds no ${asset}.`);
  throw lacks('fee', `The wallet has too little ${found.coin} for the network's fee.`);
}

const lacks = (param: string, message: string) => new Fail('invalid_request', { message, param });

function unlessAway(error: unknown): never {
  if (!(error instanceof ChainUnavailable)) throw error;
  const message = 'The network does not answer now: try again in a moment.';
  throw new Fail('service_unavailable', { message, retryAfterSeconds: RETRY_SECONDS });
}

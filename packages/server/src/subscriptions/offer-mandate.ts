import { type Asset, formatTokens, type Network } from '@florin/contract/money';
import {
  type Chain,
  ChainUnavailable,
  type CheckedMandate,
  type MandateSetup,
  PERMIT_SECONDS,
  type SignedMandate as Signed,
  type SignedPermit,
  SignerUnavailable,
  UnbuildableTransfer,
} from '../chains/port/index.ts';
import { listOpenInvoices } from '../invoices/billing/index.ts';
import { quoteCharge } from '../payments/charges/index.ts';
import { Fail, invalidParam } from '../platform/fail.ts';
import type { Merchant } from '../stores/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import type { SubscriptionDeps } from './deps.ts';
import { CAP_FACTOR, mandateCap } from './page/mandate-cap.ts';
import type { SubscriptionRow } from './queries.ts';
import { SUBSCRIPTION_SETTINGS } from './settings.ts';
import { requireFreePermit, type ShownOnChain, takeMandate } from './take-mandate.ts';

// How a payer's own wallet gives a mandate on a network with real money: it is handed terms, and hands them back signed.
// Nothing is kept in between, as whatever came back is worth what was signed.

export interface WalletChoice {
  currency: Asset;
  network: Network;
  /** The payer's. */
  wallet: string;
}

/** Terms that are not asked for as the subscription and the settings say. */
interface OwnTerms {
  cap?: bigint;
  subscriptions?: number;
  /** What the wallet approves in all. */
  allowance?: bigint;
}

/** What the payer signs, as far as it does not follow from the subscription and the wallet. */
export interface OfferedTerms {
  cap: bigint;
  subscriptions: number;
  startsAt: number;
}

export interface SignedMandate extends WalletChoice, OfferedTerms {
  /** Hex. */
  signature: string;
  /** The approval, where the wallet has signed that too; its amount and end follow from the terms. */
  permit?: Pick<SignedPermit, 'nonce' | 'signature'>;
}

/** Clocks of networks and of ours differ. */
const CLOCK_SECONDS = 600;
/** An offer is signed within a day. */
const OFFER_SECONDS = 86_400;
/** Periods for which the wallet approves coins in advance. */
const APPROVED_PERIODS = { day: 365n, week: 104n, month: 24n, year: 3n } as const;

/**
 * What a wallet has to approve and to sign for a subscription.
 *
 * @throws Fail `invalid_request` with the param that is wrong; `service_unavailable` without a rate
 */
export async function offerMandate(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscription: SubscriptionRow,
  { currency, network, wallet, ...own }: WalletChoice & OwnTerms,
): Promise<MandateSetup> {
  const choice = { currency, network, wallet };
  const chain = deps.chains.of(merchant, network);
  const asked = await capOf(deps, merchant, subscription, currency);
  await requireChargeable(deps, merchant, network, priceOf(subscription, asked));
  const cap = own.cap ?? asked;
  const { mandateSubscriptions: subscriptions } = await readSettings(
    deps.db,
    merchant,
    SUBSCRIPTION_SETTINGS,
  );
  const startsAt = deps.clock.nowSeconds() + merchant.clockOffset - CLOCK_SECONDS;
  const terms = { subscriptions, startsAt, ...own, cap };
  const setup = await setupOf(chain, subscription, { ...choice, ...terms, permitUntil: permitUntil(terms) });
  const { payer } = setup.mandate;
  const [step] = setup.steps;
  if (step?.kind === 'permit')
    await requireFreePermit(deps.db, merchant.merchantId, { ...choice, payer, nonce: step.nonce });
  return setup;
}

/** What is charged as soon as the mandate is there, in units of the token; 0 where nothing is, or there is no rate. */
async function dueNow(
  deps: SubscriptionDeps,
  merchant: Merchant,
  { merchant_id: merchantId, subscription_id: id }: SubscriptionRow,
  token: Asset,
): Promise<bigint> {
  const [first] = await listOpenInvoices(deps.db, merchantId, [id]);
  if (first === undefined) return 0n;
  const quote = await quoteCharge(
    deps,
    merchant,
    { amount: first.amount_due, currency: first.currency },
    token,
  );
  return quote?.pay_amount ?? 0n;
}

/** @throws Fail `invalid_request` */
function requireFunds(balance: bigint, due: bigint): void {
  if (balance >= due) return;
  const message = 'The wallet holds less than what is due now: fill it first. Nothing was taken.';
  throw invalidParam('balance', message);
}

/**
 * Before the payer pays for an approval: what is due has to be there.
 *
 * @throws Fail `invalid_request`, `service_unavailable`
 */
export async function requireDueFunds(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscription: SubscriptionRow,
  { currency, network, wallet }: WalletChoice,
): Promise<void> {
  const due = await dueNow(deps, merchant, subscription, currency);
  if (due === 0n) return;
  const chain = deps.chains.of(merchant, network);
  const held = await chain.balance(wallet, currency, 'tip').catch((error) => {
    throw error instanceof ChainUnavailable ? isAway(chain) : error;
  });
  requireFunds(held, due);
}

/** As from the offer. */
const permitUntil = ({ startsAt }: Pick<OfferedTerms, 'startsAt'>) =>
  startsAt + CLOCK_SECONDS + PERMIT_SECONDS;

/** What a mandate approves in all. */
export const approvedOf = (
  { cap }: Pick<OfferedTerms, 'cap'>,
  { interval }: Pick<SubscriptionRow, 'interval'>,
) => cap * APPROVED_PERIODS[interval];

async function capOf(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscription: SubscriptionRow,
  token: Asset,
): Promise<bigint> {
  const cap = await mandateCap(deps, merchant, subscription, token);
  if (cap !== undefined) return cap;
  const message = `There is no exchange rate for ${subscription.currency} now.`;
  throw new Fail('service_unavailable', { message, retryAfterSeconds: 30 });
}

/** Of a period today, in units of the token: what is asked for is twice the price. A subscription without one asks for some tokens. */
const priceOf = ({ amount }: Pick<SubscriptionRow, 'amount'>, cap: bigint) =>
  amount === 0n ? 0n : cap / CAP_FACTOR;

/** @throws Fail `invalid_request` where the signer would refuse each charge of the price */
async function requireChargeable(
  { chains }: Pick<SubscriptionDeps, 'chains'>,
  merchant: Merchant,
  network: Network,
  price: bigint,
): Promise<void> {
  const charges = await chains.holder(merchant)?.chargesOn(network).catch(unlessAway);
  if (charges?.atMost == null || price <= charges.atMost) return;
  const most = `${formatTokens(charges.atMost)} tokens`;
  const message = `The price of a period is above ${most}, the most that one charge of a wallet may take on this network here.`;
  throw invalidParam('network', message);
}

/** A signer that is away says nothing against it. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof SignerUnavailable)) throw error;
}

async function setupOf(
  chain: Chain,
  subscription: SubscriptionRow,
  choice: WalletChoice & OfferedTerms & Pick<OwnTerms, 'allowance'> & { permitUntil?: number },
): Promise<MandateSetup> {
  const { currency: asset, wallet, cap, subscriptions, startsAt, permitUntil: until } = choice;
  const checked = await chain.validateAddress(wallet);
  if (!checked.ok) throw invalidParam('wallet', 'This is no wallet on this network.');
  const { subscription_id: salt, interval: period } = subscription;
  const { allowance = approvedOf({ cap }, subscription) } = choice;
  const request = {
    asset,
    payer: checked.canonical,
    cap,
    period,
    startsAt,
    endsAt: null,
    salt,
    allowance,
    subscriptions,
    ...(until !== undefined && { permitUntil: until }),
  };
  try {
    return await chain.mandateSetup(request);
  } catch (error) {
    if (error instanceof ChainUnavailable) throw isAway(chain);
    if (!(error instanceof UnbuildableTransfer)) throw error;
    throw invalidParam('network', 'Wallets cannot be charged on this network here.');
  }
}

/**
 * Stores the mandate that a wallet has signed, has it brought to the network, and charges what is due.
 *
 * @throws Fail `invalid_request` where the network would refuse it, or the cap is too small
 */
export async function takeSignedMandate(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscription: SubscriptionRow,
  { signature, permit: signedPermit, ...signed }: SignedMandate,
): Promise<SubscriptionRow> {
  const { network, startsAt, cap, currency } = signed;
  const now = deps.clock.nowSeconds() + merchant.clockOffset;
  if (startsAt > now || startsAt < now - OFFER_SECONDS)
    throw invalidParam('starts_at', 'The terms are too old: ask for new ones.');
  const price = priceOf(subscription, await capOf(deps, merchant, subscription, currency));
  await requireChargeable(deps, merchant, network, price);
  if (cap < price) throw invalidParam('cap', 'The cap is below the price: ask for new terms.');
  const chain = deps.chains.of(merchant, network);
  const { mandate } = await setupOf(chain, subscription, signed);
  const approval = { amount: approvedOf(signed, subscription), deadline: permitUntil(signed) };
  const permit = signedPermit && { ...approval, ...signedPermit };
  const reading = await readSigned(chain, { mandate, signature, ...(permit && { permit }) }, price);
  if (reading.allowance < price)
    throw invalidParam(
      'wallet',
      'The wallet has approved less than the price: the approval comes before the signature.',
    );
  requireFunds(reading.balance, await dueNow(deps, merchant, subscription, currency));
  return await takeMandate(deps, merchant, subscription.subscription_id, {
    network,
    mandate,
    reading,
    signature,
    ...(permit && { permit }),
  });
}

/**
 * The same for a wallet of the sandbox: it is offered terms, and what it has confirmed is taken. Only what stands for its
 * approval and signature is simulated.
 *
 * @param wallet.confirm puts both on the chain; its answer is the wallet's state by then
 */
export async function giveOffered(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscription: SubscriptionRow,
  wallet: {
    choice: WalletChoice & OwnTerms;
    confirm: (setup: MandateSetup) => Promise<ShownOnChain['reading']>;
  },
): Promise<SubscriptionRow> {
  const { choice, confirm } = wallet;
  const setup = await offerMandate(deps, merchant, subscription, choice);
  const shown = { network: choice.network, mandate: setup.mandate, reading: await confirm(setup) };
  return await takeMandate(deps, merchant, subscription.subscription_id, shown);
}

async function readSigned(chain: Chain, signed: Signed, price: bigint) {
  const checked = await check(chain, signed);
  if (checked === null) throw invalidParam('network', 'Wallets sign no mandates on this network.');
  const { state, balance, isSignatureRefused, isTaken } = checked;
  if (isSignatureRefused || (state === 'missing' && !isTaken))
    throw invalidParam('signature', 'These terms are not signed by this wallet.');
  if (state === 'revoked') throw invalidParam('signature', 'The wallet has revoked these terms.');
  const allowance = allowanceOf(checked, signed.permit, price);
  return { balance, allowance, isRevoked: false, isEnded: false };
}

const PERMITS = {
  spent: 'Another approval of the wallet came before this one: ask for new terms.',
  expired: 'The signed approval is too old: ask for new terms.',
  refused: 'The approval is not signed by this wallet for this amount, token and network.',
} as const;

/** What the wallet allows once the permit is sent. One that is no good is not missed where enough is allowed without it. */
function allowanceOf(
  { state, allowance, permit: permitState }: CheckedMandate,
  permit: SignedPermit | undefined,
  price: bigint,
): bigint {
  if (permitState === null || permit === undefined) return allowance;
  // Nothing sends its permit any more: somebody has brought the mandate alone.
  if (state === 'active') {
    if (allowance >= price) return allowance;
    throw invalidParam(
      'starts_at',
      'These terms are on the network already, without the approval: ask for new ones.',
    );
  }
  if (permitState === 'open') return permit.amount > allowance ? permit.amount : allowance;
  if (permitState !== 'refused' && allowance >= price) return allowance;
  throw invalidParam(permitState === 'refused' ? 'permit' : 'permit_nonce', PERMITS[permitState]);
}

async function check(chain: Chain, signed: Signed) {
  try {
    return await chain.checkMandate(signed);
  } catch (error) {
    if (error instanceof UnbuildableTransfer) throw invalidParam('signature', 'This is no signature.');
    if (!(error instanceof ChainUnavailable)) throw error;
    throw isAway(chain);
  }
}

const isAway = ({ network }: Chain) =>
  new Fail('service_unavailable', {
    message: `${network} cannot be reached now. Nothing was taken; the same signature can be sent again.`,
    retryAfterSeconds: 30,
  });

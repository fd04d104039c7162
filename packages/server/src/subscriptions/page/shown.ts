import { ASSETS, type Network } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import {
  type Decline,
  type MandateWallets,
  NETWORK_NAMES,
  type SubscribedItem,
  type WalletOption,
} from '@florin/pages';
import { SignerUnavailable } from '../../chains/port/index.ts';
import { offeredOptions } from '../../checkout/index.ts';
import type { InvoiceRow } from '../../invoices/index.ts';
import { type PaymentDeps, paymentSettings } from '../../payments/index.ts';
import { readPayment } from '../../payments/reads/index.ts';
import type { StoredItem } from '../tables.ts';
import type { SubscribePage } from './find-subscribe-page.ts';

/** The subscribed items. */
export const itemsOf = (items: readonly StoredItem[]): SubscribedItem[] =>
  items.map(({ product, quantity }) => ({ product, quantity }));

/** The tokens and networks that a store accepts from wallets for prices in a currency. */
export async function walletOptions(
  deps: Pick<PaymentDeps, 'db' | 'chains'>,
  merchant: SubscribePage['merchant'],
  currency: string,
): Promise<WalletOption[]> {
  const { tokens } = await paymentSettings(deps, merchant);
  return offeredOptions(currency, tokens).map((option: PaymentOption) => ({
    value: `${option.currency}:${option.network}`,
    token: option.currency,
    networkName: NETWORK_NAMES[option.network],
  }));
}

/** Where wallets of browsers are charged: by our contract, on Ethereum, where the signer's policy names it too. */
export async function mandateWallets(
  { chains }: Pick<PaymentDeps, 'chains'>,
  merchant: SubscribePage['merchant'],
  options: readonly WalletOption[],
): Promise<MandateWallets | null> {
  const facts = chains.facts(merchant, 'erc20');
  if (facts?.wallets?.kind !== 'ethereum' || facts.collector === null || merchant.isSuspended) return null;
  if (!(await isSignedFor(chains.holder(merchant), facts.collector))) return null;
  const { tokens } = facts;
  const charged = ASSETS.flatMap((token) => {
    const contract = tokens[token];
    const isOffered = options.some(({ value }) => value === `${token}:erc20`);
    return contract === undefined || !isOffered ? [] : [{ token, contract }];
  });
  const { name, publicEndpoint: endpoint, collector } = facts;
  const { chainId: id } = facts.wallets;
  if (charged.length === 0) return null;
  return {
    chain: { id, name, endpoint },
    collector,
    options: charged,
    explorer: facts.explorer?.transaction ?? null,
  };
}

/** Whether wallets are charged on a network, by our contract there or as its adapter says. */
export async function takesMandates(
  deps: Pick<PaymentDeps, 'chains'>,
  merchant: SubscribePage['merchant'],
  { network, options }: { network: Network; options: readonly WalletOption[] },
): Promise<boolean> {
  const facts = deps.chains.facts(merchant, network);
  if (facts === undefined || merchant.isSuspended) return false;
  if (facts.wallets?.kind === 'solana') return true;
  if (facts.collector === null) return false;
  // Where the page shows wallets for mandates it compares the signer's policy; on other networks the adapter does.
  return facts.wallets?.kind !== 'ethereum' || (await mandateWallets(deps, merchant, options)) !== null;
}

/** A mandate that nobody signs charges for would be given in vain. While the signer is away, what it said of itself is not known. */
async function isSignedFor(
  holder: ReturnType<PaymentDeps['chains']['holder']>,
  collector: string,
): Promise<boolean> {
  try {
    const limits = await holder?.limits();
    return limits === undefined || limits.collector?.toLowerCase() === collector.toLowerCase();
  } catch (error) {
    if (error instanceof SignerUnavailable) return true;
    throw error;
  }
}

const DECLINES: Partial<Record<string, Decline>> = {
  insufficient_balance: 'insufficient_balance',
  insufficient_allowance: 'insufficient_allowance',
  cap_exceeded: 'cap_exceeded',
  mandate_revoked: 'mandate_revoked',
};

/** Why the newest charge of an open invoice failed. */
export async function declineOf(
  { db }: Pick<PaymentDeps, 'db'>,
  invoice: InvoiceRow | undefined,
): Promise<Decline | null> {
  if (invoice?.payment_status !== 'failed' || invoice.charge_payment_id === null) return null;
  const { payment } = await readPayment(db, invoice.merchant_id, invoice.charge_payment_id);
  return DECLINES[payment.decline_code ?? ''] ?? 'other';
}

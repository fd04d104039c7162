import { ASSETS, NETWORKS, type Network } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import {
  type Decline,
  type MandateKind,
  type MandateWallets,
  NETWORK_NAMES,
  type SubscribedItem,
  type WalletOption,
} from '@florin/pages';
import type { NetworkFacts } from '../../chains/index.ts';
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

/** The networks on which wallets of browsers are charged, with what a page of a browser needs of each. */
export async function mandateWallets(
  { chains }: Pick<PaymentDeps, 'chains'>,
  merchant: SubscribePage['merchant'],
  options: readonly WalletOption[],
): Promise<MandateWallets[]> {
  if (merchant.isSuspended) return [];
  const found = await Promise.all(
    NETWORKS.map(async (network): Promise<MandateWallets | null> => {
      const facts = chains.facts(merchant, network);
      if (facts === undefined) return null;
      const charged = ASSETS.flatMap((token) => {
        const contract = facts.tokens[token];
        const isOffered = options.some(({ value }) => value === `${token}:${network}`);
        return contract === undefined || !isOffered ? [] : [{ token, contract }];
      });
      if (charged.length === 0) return null;
      if (!(await isSignedFor(chains.holder(merchant), network, facts.collector))) return null;
      const kind = await chargedKind({ chains }, merchant, facts, network);
      if (kind === null) return null;
      return { ...kind, network, options: charged, explorer: facts.explorer?.transaction ?? null };
    }),
  );
  return found.filter((one) => one !== null);
}

/** How wallets are charged on a network; null: none is. */
async function chargedKind(
  { chains }: Pick<PaymentDeps, 'chains'>,
  merchant: SubscribePage['merchant'],
  { wallets, collector, name, publicEndpoint: endpoint }: NetworkFacts,
  network: Network,
): Promise<MandateKind | null> {
  switch (wallets?.kind) {
    case 'ethereum':
      return collector === null
        ? null
        : { kind: 'ethereum', spender: collector, chain: { id: wallets.chainId, name, endpoint } };
    case 'tron':
      return collector === null ? null : { ...wallets, spender: collector, name };
    case 'solana': {
      const spender = await spenderOf({ chains }, merchant, network);
      return spender === null ? null : { ...wallets, spender, name };
    }
    case undefined:
      return null;
  }
}

/** Whom payers' wallets let take coins on a network; null: nobody, or the signer, which says it, is away. */
export async function spenderOf(
  { chains }: Pick<PaymentDeps, 'chains'>,
  merchant: SubscribePage['merchant'],
  network: Network,
): Promise<string | null> {
  const facts = chains.facts(merchant, network);
  // Real money on Solana takes no mandates, whatever a signer says.
  if (facts?.wallets?.kind === 'solana' && !facts.isTest) return null;
  if (facts?.collector) return facts.collector;
  try {
    return (await chains.payerCalls(merchant, network)?.spender()) ?? null;
  } catch (error) {
    if (error instanceof SignerUnavailable) return null;
    throw error;
  }
}

/**
 * Whether the signer signs charges there: a mandate that nobody signs charges for would be given in vain. While it is away, what it said of
 * itself is not known.
 *
 * @param collector null where wallets allow a delegate of the signer's
 */
async function isSignedFor(
  holder: ReturnType<PaymentDeps['chains']['holder']>,
  network: Network,
  collector: string | null,
): Promise<boolean> {
  try {
    const charges = await holder?.chargesOn(network);
    if (charges === undefined) return true;
    // Ethereum's addresses are spelled with and without their checksum.
    return (
      charges.by !== null && (collector === null || charges.by.toLowerCase() === collector.toLowerCase())
    );
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

import { randomUUID } from 'node:crypto';
import type { Asset, Network } from '@florin/contract/money';
import type { SimulatedChain } from '../../chains/index.ts';
import { type MandatePeriod, PERMIT_SECONDS } from '../../chains/port/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import type { MerchantRef, PaymentMethodDeps } from '../deps.ts';
import { mandateOf, type PaymentMethodRow } from '../queries.ts';
import { readingOf } from '../states.ts';
import type { GivenMandate } from './save-mandate.ts';

// Payers' wallets on the simulated chains. Callers check that the merchant is a sandbox merchant.

/** 1,000,000 tokens. */
const BALANCE = 1_000_000_000_000n;
/** The allowance of a wallet without a limit of its own: the highest number on the chain. */
const UNLIMITED = 2n ** 63n - 1n;
/** For so many subscriptions a simulated wallet signs. */
const SUBSCRIPTIONS = 1_000;

export interface SandboxMandate {
  currency: Asset;
  network: Network;
  /** Most units in each window. */
  cap: bigint;
  period: MandatePeriod;
  /** The wallet's balance; 1,000,000 tokens by default. */
  balance?: bigint | undefined;
  /** For how many subscriptions it is signed, where the network counts them; 1,000 by default. */
  subscriptions?: number;
}

/**
 * Gives a mandate from a new wallet, in a block that is final at once. The allowance is unlimited, so only the cap
 * limits charges.
 *
 * @throws ChainUnavailable
 */
export async function giveSandboxMandate(
  deps: Pick<PaymentMethodDeps, 'chains' | 'clock'>,
  merchant: MerchantRef,
  { currency, network, cap, period, balance = BALANCE, subscriptions = SUBSCRIPTIONS }: SandboxMandate,
): Promise<Pick<GivenMandate, 'network' | 'mandate' | 'reading'>> {
  const { seconds } = merchantTime(deps, merchant);
  const chain = deps.chains.sandbox(merchant.merchantId, network);
  const wallet = { owner: chain.payerAddress(randomUUID()), asset: currency };
  const terms = { asset: currency, payer: wallet.owner, cap, period, startsAt: seconds, endsAt: null };
  const counted = chain.capabilities.windowCap ? { subscriptions } : {};
  const setup = await chain.mandateSetup({
    ...terms,
    ...counted,
    salt: randomUUID(),
    allowance: UNLIMITED,
    permitUntil: seconds + PERMIT_SECONDS,
  });
  await chain.hold(wallet, balance, { final: true });
  await chain.authorize(setup, { final: true });
  const { mandate } = setup;
  // The state as signed: during an outage of the node we cannot read it, but the mandate still exists.
  const state = { state: 'active', balance, allowance: UNLIMITED } as const;
  return { network, mandate, reading: readingOf(state, mandate, seconds) };
}

export interface WalletChange {
  balance?: bigint | undefined;
  allowance?: bigint | undefined;
  revoked?: true | undefined;
}

/**
 * Changes the payer's wallet behind a payment method, in blocks that are final at once.
 *
 * @throws ChainUnavailable
 */
export async function changeSandboxWallet(
  chain: SimulatedChain,
  method: PaymentMethodRow,
  { balance, allowance, revoked }: WalletChange,
): Promise<void> {
  const mandate = mandateOf(method);
  const wallet = { owner: mandate.payer, asset: mandate.asset };
  if (balance !== undefined) await chain.hold(wallet, balance, { final: true });
  if (allowance !== undefined) await chain.approve(wallet, allowance, { final: true });
  if (revoked === true) await chain.revoke(mandate, { final: true });
}

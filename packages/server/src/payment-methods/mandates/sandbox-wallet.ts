import type { Network } from '@florin/contract/money';
import type { SimulatedChain } from '../../chains/index.ts';
import type { MandateSetup } from '../../chains/port/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import type { MerchantRef, PaymentMethodDeps } from '../deps.ts';
import { mandateOf, type PaymentMethodRow } from '../queries.ts';
import { readingOf, type ShownMandate } from '../states.ts';

// Payers' wallets on the simulated chains. Callers check that the merchant is a sandbox merchant.

/** 1,000,000 tokens. */
const BALANCE = 1_000_000_000_000n;

/**
 * What stands for the wallet's approval and signature: it holds coins and gives what it was offered, in blocks that are final at
 * once.
 *
 * @param balance 1,000,000 tokens by default
 * @returns the wallet's state as it was signed
 * @throws ChainUnavailable
 */
export async function confirmInSandbox(
  deps: Pick<PaymentMethodDeps, 'chains' | 'clock'>,
  merchant: MerchantRef,
  {
    network,
    setup,
    balance = BALANCE,
  }: { network: Network; setup: MandateSetup; balance?: bigint | undefined },
): Promise<ShownMandate> {
  const chain = deps.chains.sandbox(merchant.merchantId, network);
  const { mandate, steps } = setup;
  await chain.hold({ owner: mandate.payer, asset: mandate.asset }, balance, { final: true });
  await chain.authorize(setup, { final: true });
  const allowance = steps.reduce((sum, step) => (step.kind === 'activate' ? sum : step.amount), 0n);
  // As signed, not as read: during an outage of the node we cannot read it, but the mandate still exists.
  const state = { state: 'active', balance, allowance } as const;
  return readingOf(state, mandate, merchantTime(deps, merchant).seconds);
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

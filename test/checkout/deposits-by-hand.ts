import { randomUUID } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import type { SimulatedChain } from '../../packages/server/src/chains/index.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { scanDeposits } from '../../packages/server/src/payments/deposits/scan-deposits.ts';
import type { PaymentDeps } from '../../packages/server/src/payments/deps.ts';
import type { PaymentView } from '../../packages/server/src/payments/reads/queries.ts';
import { jobOf } from '../job.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { checkout, TOKEN } from './requests.ts';

// For tests without a worker: each step happens when the test says so.

/** Reads a network once, as the job of that name does. */
export async function scanOnce(deps: PaymentDeps, merchantId: string, network: Network): Promise<void> {
  const run = {
    step: () => Promise.reject(new Error('unused')),
    finish: () => Promise.reject(new Error('unused')),
    onRevision: () => {},
    signal: new AbortController().signal,
  };
  await scanDeposits(deps, jobOf(merchantId, { network }), run);
}

export interface OpenPayment {
  merchant: TestMerchant;
  view: PaymentView;
  /** Where USDT is to be sent. */
  address: string;
  chain: SimulatedChain;
}

/** A new merchant's session over 100 USDT, whose payer has chosen the network. */
export async function openPayment(service: TestService, network: Network): Promise<OpenPayment> {
  const { app } = service;
  const merchant = await service.createMerchant({ funds: 0n });
  const { merchantId } = merchant;
  const made = await checkout(service, merchant).open();
  const session = await getSession(app.db, merchant, made.id);
  const who = { merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const view = await chooseOption(app, who, session, { currency: 'USDT', network });
  const [option] = view.options;
  if (option === undefined) throw new Error('an option was chosen');
  return { merchant, view, address: option.address, chain: app.chains.sandbox(merchantId, network) };
}

/** The payer sends in parts of one transaction, which lies in the newest block. @returns its id */
export async function sendTokens(payment: OpenPayment, ...tokens: readonly number[]): Promise<string> {
  return await sendAs(payment, randomUUID(), tokens);
}

/** The same reference and tokens are the same transaction, which a reorganisation may have taken away. */
export async function sendAs(
  { chain, address }: OpenPayment,
  reference: string,
  tokens: readonly number[],
): Promise<string> {
  const { address: from } = await chain.depositAddress({ index: 1_000_000 });
  const transfers = tokens.map((amount) => ({
    from,
    to: address,
    asset: 'USDT' as const,
    amount: BigInt(amount * TOKEN),
  }));
  return await chain.pay({ transfers, reference });
}

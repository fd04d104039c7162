import { ASSETS, type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { Balances, FundInput } from '@florin/contract/schemas';
import type { Static } from 'typebox';
import { ChainUnavailable } from '../chains/port/index.ts';
import { presentBalances, readBalances } from '../ledger/balances/index.ts';
import { coinsOn, post } from '../ledger/index.ts';
import { networkOf } from '../payments/deposits/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import type { RefundDeps } from '../refunds/index.ts';
import type { SubscriptionDeps } from '../subscriptions/index.ts';

export type SandboxDeps = SubscriptionDeps & RefundDeps;
export const FUND_JOB = 'sandbox.fund';

interface Funding {
  merchantId: string;
  fundId: string;
  currency: Asset;
  network: Network;
  amount: bigint;
}

/**
 * Credits a sandbox merchant's balance and puts the coins on its simulated chain. The job is written with the booking, so
 * the coins arrive even after a crash; the chain accepts one payment per funding.
 */
export async function fund(
  deps: SandboxDeps,
  merchant: { merchantId: string; clockOffset: number },
  input: FundInput,
): Promise<Static<typeof Balances>> {
  const { merchantId } = merchant;
  const { currency, network } = input;
  const amount = BigInt(input.amount);
  const funding: Funding = { merchantId, fundId: newId(), currency, network, amount };
  await transact(deps.db, async (tx) => {
    const cause = { type: 'fund', id: funding.fundId } as const;
    const posting = {
      debit: `custody:${network}`,
      credit: 'available',
      currency,
      network,
      amount,
      cause,
    } as const;
    await post(tx, merchantId, [posting], deps.clock.nowSeconds() + merchant.clockOffset);
    await checkFits(tx, merchantId, currency);
    const payload = { fundId: funding.fundId, currency, network, amount: String(amount) };
    await enqueue(tx, [
      { merchantId, kind: FUND_JOB, uniqueKey: funding.fundId, dueAtMs: deps.clock.nowMs(), payload },
    ]);
  });
  await payNow(deps, funding);
  return presentBalances(await readBalances(deps.db, merchantId));
}

/** Balances are JSON numbers, so they must stay safe integers. @throws Fail `invalid_request` */
async function checkFits(tx: Tx, merchantId: string, currency: Asset): Promise<void> {
  const balances = (await readBalances(tx, merchantId)).get(currency);
  const total = NETWORKS.reduce((sum, network) => sum + coinsOn(balances, network), 0n);
  if (total <= BigInt(Number.MAX_SAFE_INTEGER)) return;
  const message = `The merchant's ${currency} would exceed ${Number.MAX_SAFE_INTEGER}, the largest exact JSON number.`;
  throw new Fail('invalid_request', { message, param: 'amount' });
}

async function pay(
  { chains }: SandboxDeps,
  { merchantId, network, currency, amount, fundId }: Funding,
): Promise<void> {
  await chains.sandbox(merchantId, network).fund(currency, amount, fundId);
}

/** Pays at once, so that the caller finds the coins on the chain. If the chain is unreachable, the job pays later. */
async function payNow(deps: SandboxDeps, funding: Funding): Promise<void> {
  try {
    await pay(deps, funding);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
  }
}

export async function payFunding(deps: SandboxDeps, job: Job): Promise<JobOutcome> {
  const { fundId, amount } = job.payload;
  const currency = ASSETS.find((asset) => asset === job.payload.currency);
  if (currency === undefined) throw new Error('a funding must name a currency');
  await pay(deps, {
    merchantId: job.merchantId,
    fundId: String(fundId),
    currency,
    network: networkOf(job),
    amount: BigInt(String(amount)),
  });
  return 'done';
}

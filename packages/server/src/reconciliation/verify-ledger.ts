import { ASSETS, type Asset, formatTokens, NETWORKS, type Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { readBalances } from '../ledger/balances/index.ts';
import { type Account, type Balances, coinsOn, isOperatorAccount } from '../ledger/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { listMerchants, type Merchant } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { type ChainComparison, compareWithChain, type MerchantNetwork } from './compare-with-chain.ts';
import type { Deviation } from './comparison.ts';
import { saveReport } from './last-report.ts';
import { leastHidden } from './least-hidden.ts';
import { verifyBooks } from './verify-books.ts';

export interface VerifyDeps extends Platform {
  chains: ChainRegistry;
}

/** A difference, with its merchant. */
export interface Difference extends Deviation {
  merchant_id: string;
}

/** Balance of an operator's account in a merchant's books: own coins, liabilities and losses. */
export interface OperatorBalance {
  merchant_id: string;
  account: Account;
  currency: Asset;
  balance: bigint;
}

/** Coins in a hot wallet that the books do not know: a stranger's, not an error of the books. */
export interface Surplus {
  merchant_id: string;
  network: Network;
  currency: Asset;
  wallet: string;
  /** Smallest unit, above 0. */
  amount: bigint;
}

export interface VerifyReport {
  merchants: number;
  /** The number of compared accounts, chain balances and kinds of resources. */
  checks: number;
  /** At most 100 per merchant and comparison. */
  differences: Difference[];
  /** The number of further differences. */
  omitted: number;
  /** Never offset against differences. */
  surpluses: Surplus[];
  /** Non-zero balances. */
  operator_accounts: OperatorBalance[];
  /** Descriptions of what could not be compared. */
  unseen: string[];
}

/** Attempts per network, since a concurrent change may look like a difference. */
const ATTEMPTS_MAX = 5;
const RETRY_MS = 300;

/**
 * Recomputes every balance from its entries, compares the amounts in each module's rows with each other and with the
 * ledger, and the ledger's custody with the balances on the chains.
 */
export async function verifyLedger(
  deps: VerifyDeps,
  onProgress: (done: number, total: number) => void,
): Promise<VerifyReport> {
  const report = await verifyMerchants(deps, await listMerchants(deps.db), onProgress);
  const { differences, omitted, unseen, surpluses } = report;
  const counts = { unseen: unseen.length, surpluses: surpluses.length };
  const summary = { differences: differences.length + omitted, ...counts };
  await saveReport(deps.db, { at_ms: deps.clock.nowMs(), ...summary });
  return report;
}

/** What `verifyLedger` compares, of these merchants alone; no report is kept of it. */
export async function verifyMerchants(
  deps: VerifyDeps,
  merchants: readonly Merchant[],
  onProgress: (done: number, total: number) => void,
): Promise<VerifyReport> {
  const report: VerifyReport = {
    merchants: merchants.length,
    checks: 0,
    differences: [],
    surpluses: [],
    omitted: 0,
    operator_accounts: [],
    unseen: [],
  };
  for (const [done, merchant] of merchants.entries()) {
    const merchantId = encodeId('merchant', merchant.merchantId);
    const books = await verifyBooks(deps.db, merchant.merchantId);
    report.checks += books.checks;
    report.omitted += books.omitted;
    report.differences.push(...books.deviations.map((one) => ({ merchant_id: merchantId, ...one })));
    report.operator_accounts.push(...operatorBalances(merchantId, books.balances));
    for (const network of NETWORKS) await verifyNetwork(deps, { merchant, network }, report);
    onProgress(done + 1, merchants.length);
  }
  return report;
}

function operatorBalances(merchantId: string, balances: Balances): OperatorBalance[] {
  return ASSETS.flatMap((currency) =>
    [...(balances.get(currency) ?? [])]
      .filter(([account, balance]) => balance !== 0n && isOperatorAccount(account))
      .map(([account, balance]) => ({ merchant_id: merchantId, account, currency, balance })),
  );
}

/**
 * Repeats a comparison with differences, since a change under way may be visible on one side only, and one in which such changes may
 * hide some.
 */
async function verifyNetwork(deps: VerifyDeps, target: MerchantNetwork, report: VerifyReport): Promise<void> {
  try {
    let comparisons: ChainComparison[] = [];
    const each: ChainComparison[][] = [];
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      comparisons = await compareWithChain(deps, target);
      each.push(comparisons);
      if (comparisons.every(({ differences, hidden }) => differences.length === 0 && hidden === 0n)) break;
      if (attempt < ATTEMPTS_MAX) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    for (const [currency, hidden] of leastHidden(each))
      if (hidden > 0n) report.unseen.push(hiddenLine(target, currency, hidden));
    report.checks += ASSETS.length;
    const merchant_id = encodeId('merchant', target.merchant.merchantId);
    const { network } = target;
    for (const { currency, differences, surplus: amount, wallet, unread } of comparisons) {
      report.differences.push(
        ...differences.map((difference) => ({ merchant_id, resource: null, ...difference })),
      );
      if (amount > 0n) report.surpluses.push({ merchant_id, network, currency, wallet, amount });
      for (const address of unread)
        report.unseen.push(
          `${merchant_id} on ${network}: ${address} holds more ${currency} than is known of, and the nodes tell nothing usable of what came to it`,
        );
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof Fail)) throw error;
    if (await isEmpty(deps, target)) return;
    report.unseen.push(
      `${encodeId('merchant', target.merchant.merchantId)} on ${target.network}: ${error.message}`,
    );
  }
}

function hiddenLine({ merchant, network }: MerchantNetwork, currency: Asset, hidden: bigint): string {
  const who = encodeId('merchant', merchant.merchantId);
  return `${who} on ${network}: up to ${formatTokens(hidden)} ${currency} may be missing: so much moved each time the balances were read. Repeat it in a quiet minute`;
}

/** Whether the ledger has no coins on the network; then its chain need not be reachable. */
async function isEmpty({ db }: VerifyDeps, { merchant, network }: MerchantNetwork): Promise<boolean> {
  const balances = await readBalances(db, merchant.merchantId);
  return ASSETS.every((asset) => coinsOn(balances.get(asset), network) === 0n);
}

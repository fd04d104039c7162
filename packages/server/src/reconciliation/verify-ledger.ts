import { ASSETS, type Asset, NETWORKS } from '@florin/contract/money';
import { type ChainRegistry, ChainUnavailable } from '../chains/index.ts';
import { paymentHolds } from '../checkout/index.ts';
import {
  type Account,
  coinsOn,
  imbalance,
  isOperators,
  readBalances,
  recomputeBalances,
} from '../ledger/index.ts';
import { payoutHolds } from '../payouts/index.ts';
import type { Db } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId } from '../platform/ids.ts';
import type { Platform } from '../platform/platform.ts';
import { refundHolds } from '../refunds/index.ts';
import { listMerchants, type Merchant } from '../stores/index.ts';
import { type ChainDifference, compareWithChain, type Place } from './compare-with-chain.ts';
import { rememberReport } from './last-report.ts';

export interface VerifyDeps extends Platform {
  chains: ChainRegistry;
}

/** One thing that does not agree. Amounts are in the smallest unit. */
export interface Difference {
  merchant_id: string;
  currency: Asset;
  what: string;
  expected: bigint;
  found: bigint;
}

/** What is the operator's own among a merchant's coins, and owed or lost because of them. */
export interface OperatorBalance {
  merchant_id: string;
  account: Account;
  currency: Asset;
  balance: bigint;
}

export interface VerifyReport {
  merchants: number;
  /** Accounts and chain balances that were compared. */
  checks: number;
  differences: Difference[];
  /** Those that are not 0. */
  operator_accounts: OperatorBalance[];
  /** What could not be looked at, in words. */
  unseen: string[];
}

/** How often a comparison that met a change under way is made again before it counts. */
const LOOKS_MAX = 5;
const LOOK_AGAIN_MS = 300;

/**
 * Recomputes every balance from its entries, checks the rules between accounts, and compares what the ledger says lies
 * on each network with what the chain says.
 */
export async function verifyLedger(
  deps: VerifyDeps,
  onProgress: (done: number, total: number) => void,
): Promise<VerifyReport> {
  const merchants = await listMerchants(deps.db);
  const report: VerifyReport = {
    merchants: merchants.length,
    checks: 0,
    differences: [],
    operator_accounts: [],
    unseen: [],
  };
  for (const [done, merchant] of merchants.entries()) {
    const books = await verifyBooks(deps.db, merchant);
    report.checks += books.checks;
    report.differences.push(...books.differences);
    report.operator_accounts.push(...books.operator_accounts);
    for (const network of NETWORKS) await verifyNetwork(deps, { merchant, network }, report);
    onProgress(done + 1, merchants.length);
  }
  const { differences, unseen } = report;
  const summary = { differences: differences.length, unseen: unseen.length };
  await rememberReport(deps.db, { at_ms: deps.clock.nowMs(), ...summary });
  return report;
}

interface Checked {
  checks: number;
  differences: Difference[];
  operator_accounts: OperatorBalance[];
}

/** Everything that the database can tell by itself, as of one moment. */
async function verifyBooks(db: Db, merchant: Merchant): Promise<Checked> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const stored = await readBalances(tx, merchant.merchantId);
      const recomputed = await recomputeBalances(tx, merchant.merchantId);
      const holds = {
        payout_hold: ['frozen by batches', await payoutHolds(tx, merchant.merchantId)],
        refund_hold: ['set aside by refunds', await refundHolds(tx, merchant.merchantId)],
        held: ['undecided of payments', await paymentHolds(tx, merchant.merchantId)],
      } as const;
      const merchantId = encodeId('merchant', merchant.merchantId);
      const report: Checked = { checks: 0, differences: [], operator_accounts: [] };
      const compare = (currency: Asset, what: string, expected: bigint, found: bigint) => {
        report.checks++;
        if (expected === found) return;
        report.differences.push({
          merchant_id: encodeId('merchant', merchant.merchantId),
          currency,
          what,
          expected,
          found,
        });
      };
      for (const currency of ASSETS) {
        const balances = stored.get(currency) ?? new Map<Account, bigint>();
        const entries = recomputed.get(currency) ?? new Map<Account, bigint>();
        for (const account of new Set([...balances.keys(), ...entries.keys()])) {
          compare(
            currency,
            `${account}: sum of its entries`,
            entries.get(account) ?? 0n,
            balances.get(account) ?? 0n,
          );
        }
        for (const [account, balance] of balances) {
          if (balance === 0n || !isOperators(account)) continue;
          report.operator_accounts.push({ merchant_id: merchantId, account, currency, balance });
        }
        compare(currency, 'what is owed against what lies on the networks', 0n, imbalance(balances));
        for (const account of ['payout_hold', 'refund_hold', 'held'] as const) {
          const [what, sums] = holds[account];
          compare(currency, `${account}: ${what}`, sums.get(currency) ?? 0n, balances.get(account) ?? 0n);
        }
      }
      return report;
    });
}

/** A change under way may still be seen on one side only, so a difference is looked at again before it counts. */
async function verifyNetwork(deps: VerifyDeps, place: Place, report: VerifyReport): Promise<void> {
  try {
    let differences: ChainDifference[] = [];
    for (let look = 1; look <= LOOKS_MAX; look++) {
      differences = await compareWithChain(deps, place);
      if (differences.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    report.checks += ASSETS.length;
    const merchantId = encodeId('merchant', place.merchant.merchantId);
    report.differences.push(...differences.map((difference) => ({ merchant_id: merchantId, ...difference })));
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof Fail)) throw error;
    if (await isEmpty(deps, place)) return;
    report.unseen.push(
      `${encodeId('merchant', place.merchant.merchantId)} on ${place.network}: ${error.message}`,
    );
  }
}

/** A network on which the ledger holds nothing needs no chain to agree with. */
async function isEmpty({ db }: VerifyDeps, { merchant, network }: Place): Promise<boolean> {
  const balances = await readBalances(db, merchant.merchantId);
  return ASSETS.every((asset) => coinsOn(balances.get(asset), network) === 0n);
}

import { ASSETS, type Asset, NETWORKS, type Network } from '@florin/contract/money';
import { type ChainRegistry, ChainUnavailable } from '../chains/index.ts';
import { type Account, type Balances, coinsOn, isOperators, readBalances } from '../ledger/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { listMerchants } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { type Place, readStandings, type Standing } from './compare-with-chain.ts';
import type { Deviation } from './comparison.ts';
import { rememberReport } from './last-report.ts';
import { verifyBooks } from './verify-books.ts';

export interface VerifyDeps extends Platform {
  chains: ChainRegistry;
}

/** One thing that does not agree. */
export interface Difference extends Deviation {
  merchant_id: string;
}

/** What is the operator's own among a merchant's coins, and owed or lost because of them. */
export interface OperatorBalance {
  merchant_id: string;
  account: Account;
  currency: Asset;
  balance: bigint;
}

/** Coins in a hot wallet that the books do not know: a stranger's, which are no fault of the books. */
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
  /** Accounts, chain balances and kinds of resources that were compared. */
  checks: number;
  /** Of each kind of resource the first hundred of a merchant. */
  differences: Difference[];
  /** How many more there are. */
  omitted: number;
  /** Apart from differences, and never set off against one. */
  surpluses: Surplus[];
  /** Those that are not 0. */
  operator_accounts: OperatorBalance[];
  /** What could not be looked at, in words. */
  unseen: string[];
}

/** How often a comparison that met a change under way is made again before it counts. */
const LOOKS_MAX = 5;
const LOOK_AGAIN_MS = 300;

/**
 * Recomputes every balance from its entries, compares what each module's rows say of money with each other and with the
 * books, and what the ledger says lies on each network with what the chain says.
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
  const { differences, omitted, unseen, surpluses } = report;
  const counts = { unseen: unseen.length, surpluses: surpluses.length };
  const summary = { differences: differences.length + omitted, ...counts };
  await rememberReport(deps.db, { at_ms: deps.clock.nowMs(), ...summary });
  return report;
}

function operatorBalances(merchantId: string, balances: Balances): OperatorBalance[] {
  return ASSETS.flatMap((currency) =>
    [...(balances.get(currency) ?? [])]
      .filter(([account, balance]) => balance !== 0n && isOperators(account))
      .map(([account, balance]) => ({ merchant_id: merchantId, account, currency, balance })),
  );
}

/** A change under way may still be seen on one side only, so a difference is looked at again before it counts. */
async function verifyNetwork(deps: VerifyDeps, place: Place, report: VerifyReport): Promise<void> {
  try {
    let standings: Standing[] = [];
    for (let look = 1; look <= LOOKS_MAX; look++) {
      standings = await readStandings(deps, place);
      if (standings.every(({ differences }) => differences.length === 0)) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    report.checks += ASSETS.length;
    const merchant_id = encodeId('merchant', place.merchant.merchantId);
    const { network } = place;
    for (const { currency, differences, surplus: amount, wallet } of standings) {
      report.differences.push(
        ...differences.map((difference) => ({ merchant_id, resource: null, ...difference })),
      );
      if (amount > 0n) report.surpluses.push({ merchant_id, network, currency, wallet, amount });
    }
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

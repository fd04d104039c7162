import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { LiveEthereum } from '../chains/index.ts';
import { ChainUnavailable, SigningBlocked, UnbuildableTransfer } from '../chains/port/index.ts';
import { totalOf } from '../platform/amounts.ts';
import { Fail } from '../platform/fail.ts';
import type { CoinPrice } from '../rates/index.ts';
import { type ContractReport, judgeContract, NO_LIVE } from './contracts.ts';
import { fillContracts } from './fill-contracts.ts';
import { formatCoin, inDollars } from './treasury.ts';

/** A contract that all merchants share; each merchant's sweep contract is deployed by its first sweep. */
type Shared = Exclude<ContractReport['contract'], 'sweep_delegate'>;

export interface DeployOrder {
  /** A private key in hex, whose ether pays. */
  key: string;
  /** The price and nothing else. */
  isDryRun: boolean;
  /** Fills nulls of the networks file with the addresses. */
  writes: boolean;
  /** Asks a person; false: nothing is sent. Not called where nothing is to be sent. */
  confirm: (report: DeployReport) => Promise<boolean>;
}

/** Amounts are decimals of ether and dollars; dollars are null where no rate is known. */
export interface DeployReport {
  network: 'erc20';
  deployer: string;
  /** What the deployer holds. */
  coin: string;
  cost: string;
  cost_usd: string | null;
  cost_at_most: string;
  cost_at_most_usd: string | null;
  contracts: {
    contract: Shared;
    address: string;
    status: 'on_chain' | 'missing' | 'deployed';
    tx_id: string | null;
  }[];
  /** The networks file, if it was changed. */
  written: string | null;
}

type Quote = Awaited<ReturnType<LiveEthereum['quoteDeployments']>>;
type Sent = Awaited<ReturnType<LiveEthereum['sendDeployments']>>;
type Report = ContractReport & { contract: Shared };

const PATIENCE_MS = 600_000;
const POLL_MS = 1_000;

/** @throws Fail with one line; what was sent by then is named in it */
export async function deployContracts(
  app: Pick<App, 'live' | 'rates'>,
  { key, isDryRun, writes, confirm }: DeployOrder,
  networksFile: string | undefined,
): Promise<DeployReport> {
  if (app.live === undefined || networksFile === undefined) throw new Fail('invalid_request', NO_LIVE);
  const { ethereum } = app.live;
  return await explained(async () => {
    const found = (await ethereum.verifyContracts([])).filter(isShared);
    for (const one of found) assertReplaceable(one);
    const missing = found.filter(({ code }) => code === 'none');
    const quote = await ethereum.quoteDeployments(key, missing);
    const price = await app.rates.priceOfCoin('erc20');
    const report = reportOf(quote, found, price);
    if (isDryRun) return report;
    if (missing.length > 0) {
      assertFunded(quote);
      if (!(await confirm(report))) return report;
    }
    const sent = await ethereum.sendDeployments(key, quote);
    await awaitDeployed(ethereum, sent);
    const written = writes && fillContracts(networksFile, found) ? networksFile : null;
    return { ...deployedOf(report, sent), written };
  });
}

const isShared = (report: ContractReport): report is Report => report.contract !== 'sweep_delegate';

/** A configured contract is never replaced: what it has paid is remembered in it alone. @throws Fail */
function assertReplaceable(report: Report): void {
  const { contract, address, expected } = report;
  const { status, advice } = judgeContract(report);
  if (status === 'ok' || (status !== 'differs' && address === expected.address)) return;
  const message = `contracts.${contract} of the networks file names ${address}. ${advice} Nothing was sent.`;
  throw new Fail('conflict', { message });
}

function assertFunded({ deployer, native, transactions }: Quote): void {
  const needed = totalOf(transactions.map(({ costAtMost }) => costAtMost));
  if (native >= needed) return;
  const message = `${deployer} holds ${formatCoin(native)} ether, and it may take ${formatCoin(needed)}: send it ether. Nothing was sent.`;
  throw new Fail('insufficient_balance', { message });
}

function reportOf(quote: Quote, found: readonly Report[], price: CoinPrice | undefined): DeployReport {
  const cost = totalOf(quote.transactions.map((one) => one.cost));
  const most = totalOf(quote.transactions.map((one) => one.costAtMost));
  return {
    network: 'erc20',
    deployer: quote.deployer,
    coin: formatCoin(quote.native),
    cost: formatCoin(cost),
    cost_usd: inDollars(cost, price),
    cost_at_most: formatCoin(most),
    cost_at_most_usd: inDollars(most, price),
    contracts: found.map(({ contract, address, code }) => ({
      contract,
      address,
      status: code === 'none' ? 'missing' : 'on_chain',
      tx_id: null,
    })),
    written: null,
  };
}

function deployedOf(report: DeployReport, sent: Sent): DeployReport {
  const contracts = report.contracts.map((one) => {
    const txId = sent.find(({ contract }) => contract === one.contract)?.txId;
    return txId === undefined ? one : { ...one, status: 'deployed' as const, tx_id: txId };
  });
  return { ...report, contracts };
}

/** @throws Fail where they are in no block when the time is over */
async function awaitDeployed(ethereum: LiveEthereum, sent: Sent): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let open = sent; open.length > 0; ) {
    if (performance.now() >= until) {
      const ids = open.map(({ contract, txId }) => `${contract} by ${txId}`).join(', ');
      const message = `Sent, and in no block yet: ${ids}. Run florin contracts verify later.`;
      throw new Fail('service_unavailable', { message });
    }
    await sleep(POLL_MS);
    try {
      open = await ethereum.readOpenDeployments(open);
    } catch (error) {
      // It was sent: a node that is away for a while changes nothing.
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
}

/** What an operator can mend becomes one line. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isBlocked = error instanceof SigningBlocked || error instanceof UnbuildableTransfer;
    if (!isBlocked && !(error instanceof ChainUnavailable)) throw error;
    const message = `The contracts cannot be deployed: ${error.message}.`;
    throw new Fail(isBlocked ? 'conflict' : 'service_unavailable', { message, cause: error });
  }
}

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FAILED, PASSED, ROOT, type Step } from './step.ts';

const PACKAGES = path.join(ROOT, 'packages');

/** What a module's code may be at most, in lines with comments and without tests. The longest path that fits counts. */
const BUDGETS: Readonly<Record<string, number>> = {
  cli: 6_700,
  // Reports: Home, the statement of a period. The helpers of the sandbox, and the operator's pages. What a document brings.
  // And settings, of stores and of the installation; branding, with two people at once. Parts of a payment are refunded, what is
  // under way is signed late, and invitations go by mail.
  // What is left to refund, of each transfer; and until when an approval can be given, and what waits for a signature.
  // All that happened to a payment, customers and their portals, ends of subscriptions, and whose role may open a page.
  // What runs: heights of networks, endpoints, versions. And merchants that an operator or auditor looks at.
  // Money that operators decide about.
  // With what falls due against what a wallet holds, and each list as a file; what two people edit at once; the inbox of webhooks.
  console: 12_900,
  // The reader of payout files came here from the command line.
  contract: 3_500,
  'embedded-postgres': 900,
  // Wallets of three kinds, which pay and are charged. And the page of a payer without its script. What was sent is waited for.
  pages: 7_450,
  sdk: 4_000,
  'server/src': 1_500,
  'server/src/audit': 800,
  // Large answers have their own time, for all networks. What payers' wallets sign.
  // And pages of the risk list, endpoints that lag, and reading apart what endpoints differ on. And approvals of payers' wallets.
  // And what a gas tank lends.
  // And how far each endpoint is, for people.
  // How new a reading has to be, and how far an own node is known to be.
  'server/src/chains': 4_450,
  // What networks with the collector share: terms, typed data, calls, answers and errors, out of the adapter of Ethereum.
  'server/src/chains/collector': 450,
  'server/src/chains/evm': 6_000,
  // Hot wallets that a token's issuer has frozen.
  'server/src/chains/simulated': 4_150,
  // What payers' wallets sign, mandates, and charges of them. Whose failure it is, and which accounts are there and are closed.
  // Approvals for wallets of browsers.
  // Frozen accounts of ours, and mandates into another one.
  'server/src/chains/solana': 4_200,
  // Large blocks are read in parts that are kept. Mandates, with what is tried before charges, and states from a block on; approvals for
  // wallets of browsers. What calls use, by two endpoints. Stake that is lent.
  // Whom a token's refusal of a charge is about.
  // One trial for many transfers, several blocks in one call.
  'server/src/chains/tron': 4_310,
  'server/src/checkout': 2_800,
  // Passkeys, the pages of sign-in, and what the operator decides came with the accounts of people; then reports, and
  // networks that two operators resume. And settings, branding, amounts that are found; mails to people, fingerprints of
  // passkeys, turns of reports by merchant.
  // And what a refund may take, and approvals that are late. Who the people of the audit log are; the search by wallets and by customers;
  // seized money, which two operators decide about.
  // Pages on which people come in that look like the console, and links that say what they take; roles of a merchant's own.
  'server/src/console': 10_200,
  // Accounts of live merchants are opened from the command line and the console.
  'server/src/custody': 1_250,
  'server/src/customers': 500,
  'server/src/docs': 1_200,
  'server/src/events': 800,
  'server/src/invoices': 700,
  'server/src/ledger': 700,
  'server/src/mail': 900,
  // Metrics, and the same for the operator's pages; the treasury; heights of networks and what runs; what is staked.
  'server/src/monitoring': 1_450,
  'server/src/operator': 3_100,
  'server/src/payment-methods': 1_700,
  // How far workers have looked.
  'server/src/payments': 5_250,
  'server/src/payouts': 2_500,
  'server/src/platform': 9_900,
  'server/src/rates': 900,
  // What moved while many balances were read is read again at once.
  'server/src/reconciliation': 1_800,
  'server/src/refunds': 2_400,
  'server/src/request-log': 1_700,
  // The story of a fresh one.
  'server/src/sandbox': 1_700,
  // A merchant is made once for each form. Two people do not overwrite each other's branding.
  // Votes are listed and taken back.
  'server/src/stores': 3_050,
  'server/src/subscriptions': 6_300,
  'server/src/tenancy': 500,
  // What an old key may not hold up: moves that are given up, and what is set aside.
  // And what Tron is given TRX for, and asked before: payments and charges alike.
  // And every cause of a stop; and what payers have signed, where whoever signs charges wants it.
  // And shares of a tank that pays for all. And what it lends, which is taken back whatever happens.
  // And charges that keep the attempt which their signer refused, and wait while a wallet of ours is frozen.
  // And loans that nobody can read, which are given up with an alarm. And refused sweeps, which give their loans back.
  'server/src/transfers': 10_300,
  'server/src/webhooks': 2_700,
  // What payers sign on Solana, and its windows, which no contract keeps; and each merchant's share of a day.
  signer: 9_800,
  site: 1_600,
};

/** Made from the OpenAPI document. */
const GENERATED = new Set(['sdk/src/wire.ts']);

export interface Size {
  file: string;
  lines: number;
}

export interface ModuleSize {
  module: string;
  lines: number;
  budget: number;
}

/** Sums the files of each module. A file outside of all of them makes a module of its own, whose budget is 0. */
export function sizesOf(files: readonly Size[], budgets: Readonly<Record<string, number>>): ModuleSize[] {
  const modules = Object.keys(budgets).toSorted((a, b) => b.length - a.length);
  const moduleOf = (file: string) =>
    modules.find((known) => file.startsWith(`${known}/`)) ?? path.dirname(file);
  const lines = new Map<string, number>();
  for (const { file, lines: count } of files) {
    const module = moduleOf(file);
    lines.set(module, (lines.get(module) ?? 0) + count);
  }
  return [...lines].map(([module, count]) => ({ module, lines: count, budget: budgets[module] ?? 0 }));
}

function readSizes(): Size[] {
  return globSync('*/src/**/*.{ts,tsx}', { cwd: PACKAGES })
    .filter((file) => !/\.test\.tsx?$/.test(file) && !GENERATED.has(file))
    .map((file) => ({ file, lines: readFileSync(path.join(PACKAGES, file), 'utf8').split('\n').length - 1 }));
}

export const sizeStep: Step = {
  name: 'sizes of the modules',
  run: async () => {
    const sizes = sizesOf(readSizes(), BUDGETS);
    const large = sizes.filter(({ lines, budget }) => lines > budget);
    for (const { module, lines, budget } of large)
      console.error(
        `${module} has ${lines} lines, its budget is ${budget}: take something out, or say why it grows`,
      );
    console.log(`${sizes.reduce((sum, { lines }) => sum + lines, 0)} lines in ${sizes.length} modules`);
    return large.length === 0 ? PASSED : FAILED;
  },
};

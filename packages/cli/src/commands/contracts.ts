import type { ContractLine, DeployReport } from '@florin/server/operator';
import type { Command } from 'commander';
import { askYes } from '../ask-yes.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { resource } from '../resource.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { withSigner } from '../signer.ts';
import { cell, formatTable } from '../table.ts';
import { noteToPeople } from '../terminal.ts';

const isWrong = ({ status }: ContractLine) => status === 'missing' || status === 'differs';

function printLines(lines: readonly ContractLine[]): void {
  const rows = lines.map(({ contract, network, merchant_id, address, status }) => ({
    contract,
    network,
    merchant_id,
    address,
    status,
  }));
  print(formatTable(rows));
  for (const { contract, address, advice } of lines)
    if (advice !== null) print(`${contract} ${address}: ${cell(advice)}`);
}

function addVerify(group: Command): void {
  databaseCommand(group, 'verify', ['florin contracts verify', 'florin contracts verify --json'])
    .description(
      'Compare the code at the addresses of our contracts with the code of this release, the sweep contract of each live ' +
        'merchant among them. Exit code 1: one differs or is missing.',
    )
    .action(async (flags: DatabaseFlags, command: Command) => {
      const lines = await withOperator(flags, ({ contracts }) => contracts.verify());
      if (wantsJson(command)) print(toJson(lines));
      else printLines(lines);
      if (lines.some(isWrong)) process.exitCode = 1;
    });
}

interface DeployFlags extends DatabaseFlags {
  keyFile: string;
  dryRun?: true;
  yes?: true;
  write?: true;
}

const ether = (amount: string, dollars: string | null) =>
  dollars === null ? `${amount} ether` : `${amount} ether (${dollars} dollars)`;

function priceLine(report: DeployReport): string {
  const { deployer, coin, cost, cost_usd, cost_at_most, cost_at_most_usd } = report;
  const price = `about ${ether(cost, cost_usd)}, at most ${ether(cost_at_most, cost_at_most_usd)}`;
  return `It costs ${price}. ${deployer} pays, and holds ${coin} ether.`;
}

function adviceOf({ contracts, written }: DeployReport): string {
  if (written !== null)
    return `${written} names them now: put contracts.batch_payout into the signer's policy, and contracts.collector for subscriptions.`;
  const places = contracts.map(({ contract, address }) => `contracts.${contract} ${address}`).join(', ');
  return `The networks file has to name ${places} (--write does), and the signer's policy batch_payout, and collector for subscriptions.`;
}

function printDeployed(report: DeployReport): void {
  print(formatTable(report.contracts));
  if (report.contracts.some(({ status }) => status === 'missing')) print(priceLine(report));
  else print(adviceOf(report));
}

async function confirmDeploy(report: DeployReport, isSure: boolean): Promise<boolean> {
  if (isSure) return true;
  const missing = report.contracts.filter(({ status }) => status === 'missing');
  const names = missing.map(({ contract }) => contract).join(', ');
  return await askYes(`Deploy ${names}? ${priceLine(report)}`);
}

function addDeploy(group: Command): void {
  databaseCommand(group, 'deploy', [
    'florin contracts deploy --key-file deployer.key --dry-run',
    'florin contracts deploy --key-file deployer.key --write',
  ])
    .description(
      'Put BatchPayout, the Sweeper of your gas tank and the Collector on the chain where they are missing, and say where they are. ' +
        "Each merchant's sweep contract is deployed by its first sweep.",
    )
    .requiredOption(
      '--key-file <file>',
      'private key in hex, mode 600, of a wallet that pays and gets no right',
    )
    .option('--dry-run', 'show the price, and send nothing')
    .option('--yes', 'send without asking')
    .option('--write', 'put the addresses into the networks file where it says null')
    .action(async ({ keyFile, dryRun, yes, write, ...flags }: DeployFlags, command: Command) => {
      const key = await withSigner(async (signer) => signer.readPrivateFile(keyFile, 'the key file').trim());
      const confirm = (report: DeployReport) => confirmDeploy(report, yes === true);
      const order = { key, isDryRun: dryRun === true, writes: write === true, confirm };
      const report = await withOperator(flags, ({ contracts }) => contracts.deploy(order));
      if (wantsJson(command)) print(toJson(report));
      else printDeployed(report);
      const isLeft = report.contracts.some(({ status }) => status === 'missing');
      if (isLeft && dryRun !== true) noteToPeople('Nothing was sent.');
    });
}

export const addContracts = resource({
  name: 'contracts',
  description: 'Our contracts on the networks of real money',
  examples: ['florin contracts verify', 'florin contracts deploy --key-file deployer.key --dry-run'],
  operations: [addVerify, addDeploy],
});

import type { ContractLine } from '@florin/server/operator';
import type { Command } from 'commander';
import { resource } from '../operations.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell, formatTable } from '../table.ts';

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

export const addContracts = resource({
  name: 'contracts',
  description: 'Our contracts on the networks of real money',
  examples: ['florin contracts verify', 'florin contracts verify --json'],
  operations: [addVerify],
});

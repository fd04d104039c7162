import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

export function addMerchants(program: Command): void {
  const group = program.command('merchants').description('Merchants: each in one mode, sandbox or live');
  examples(group, ['florin merchants create "Flower shop" --live', 'florin merchants list']);

  databaseCommand(group, 'create <name>', [
    'florin merchants create "Flower shop"',
    'florin merchants create Shop --live',
  ])
    .description('Make a merchant')
    .option('--live', 'real money; without it a sandbox merchant with simulated chains')
    .action(async (name: string, flags: DatabaseFlags & { live?: true }, command: Command) => {
      const mode = flags.live ? 'live' : 'sandbox';
      show(command, await withOperator(flags, (operator) => operator.merchants.create({ name, mode })));
    });

  databaseCommand(group, 'list', ['florin merchants list', 'florin merchants list --json'])
    .description('List all merchants')
    .action(async (flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.merchants.list()));
    });

  databaseCommand(group, 'suspend <merchant>', ['florin merchants suspend mer_01…'])
    .description('Begin nothing for a merchant until it is resumed: its requests are 403, its pages say so')
    .action(async (merchant: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.merchants.suspend(merchant)));
    });

  databaseCommand(group, 'resume <merchant>', ['florin merchants resume mer_01…'])
    .description('Let a suspended merchant work again')
    .action(async (merchant: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.merchants.resume(merchant)));
    });
}

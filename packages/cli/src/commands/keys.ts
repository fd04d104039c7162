import { type Command, Option } from 'commander';
import { parseDuration, parseWhole } from '../duration.ts';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

const ALL_SCOPES = 'read,write,payouts,refunds';
const DAY_SECONDS = 86_400;
const SHOWN_ONCE = 'Keep the secret key now: it is not shown again.';

interface CreateFlags extends DatabaseFlags {
  name: string;
  validityDays: number;
  scopes: string;
  owner?: string;
}

function addCreate(group: Command): void {
  const lines = [
    'florin keys create store_01… --name "Web server"',
    'florin keys create store_01… --name Reports --validity-days 90 --scopes read',
  ];
  databaseCommand(group, 'create <store>', lines)
    .description('Make an API key and its secret key for a reviewed and enabled store')
    .requiredOption('--name <name>', 'what it is for')
    .option('--validity-days <days>', 'days until it expires; 0: never', parseWhole, 0)
    .option('--scopes <list>', 'what it may do', ALL_SCOPES)
    .option(
      '--owner <name>',
      'the registered approver who holds it, and so approves nothing that it created, edited or submitted',
    )
    .action(async (store: string, flags: CreateFlags, command: Command) => {
      const { name, validityDays, owner } = flags;
      const scopes = flags.scopes.split(',').map((scope) => scope.trim());
      const input = { store, name, validityDays, scopes, owner };
      show(command, await withOperator(flags, (operator) => operator.keys.create(input)));
      if (!wantsJson(command)) note(SHOWN_ONCE);
    });
}

function addRotate(group: Command): void {
  const lines = ['florin keys rotate key_01…', 'florin keys rotate key_01… --overlap 0'];
  databaseCommand(group, 'rotate <key>', lines)
    .description('Give a key a new secret; the API key stays')
    .addOption(
      new Option('--overlap <duration>', 'how long the old secret is good too: 30m, 24h, 7d, or 0')
        .argParser(parseDuration)
        .default(DAY_SECONDS, '24h'),
    )
    .action(async (key: string, flags: DatabaseFlags & { overlap: number }, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.keys.rotate(key, flags.overlap)));
      if (!wantsJson(command)) note(SHOWN_ONCE);
    });
}

export function addKeys(program: Command): void {
  const group = program.command('keys').description('API keys of stores');
  examples(group, [
    'florin keys create store_01… --name "Web server"',
    'florin keys rotate key_01… --overlap 24h',
  ]);
  addCreate(group);

  databaseCommand(group, 'list', ['florin keys list', 'florin keys list --merchant mer_01… --json'])
    .description('List API keys by the end of each; secrets are never shown')
    .option('--merchant <id>', 'of this merchant alone')
    .action(async (flags: DatabaseFlags & { merchant?: string }, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.keys.list(flags.merchant)));
    });

  addRotate(group);

  databaseCommand(group, 'revoke <key>', ['florin keys revoke key_01…'])
    .description('End a key for good: requests with it are 401 from now on')
    .action(async (key: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.keys.revoke(key)));
    });
}

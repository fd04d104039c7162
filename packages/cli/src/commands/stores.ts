import { type Command, Option } from 'commander';
import { parseDuration } from '../duration.ts';
import { examples } from '../examples.ts';
import { wrongUsage } from '../failure.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

const DAY_SECONDS = 86_400;

interface CreateFlags extends DatabaseFlags {
  merchant?: string;
  channel: 'api' | 'hosted';
}

interface ReviewFlags extends DatabaseFlags {
  approve?: true;
  reject?: true;
}

function addCreate(group: Command): void {
  const lines = [
    'florin stores create "Web shop"',
    'florin stores create Shop --merchant mer_01… --channel hosted',
  ];
  databaseCommand(group, 'create <name>', lines)
    .description('Make a store; it can have keys once it is reviewed and enabled')
    .option('--merchant <id>', 'its merchant; needed where there are several')
    .addOption(new Option('--channel <type>', 'how it sells').choices(['api', 'hosted']).default('api'))
    .action(async (name: string, flags: CreateFlags, command: Command) => {
      const input = { name, merchant: flags.merchant, channelType: flags.channel };
      show(command, await withOperator(flags, (operator) => operator.stores.create(input)));
    });
}

function addReview(group: Command): void {
  const lines = ['florin stores review store_01… --approve', 'florin stores review store_01… --reject'];
  databaseCommand(group, 'review <store>', lines)
    .description('Say whether a store may take part')
    .option('--approve', 'it may')
    .option('--reject', 'it may not: requests with its keys are 403')
    .action(async (store: string, flags: ReviewFlags, command: Command) => {
      if (flags.approve === flags.reject) throw wrongUsage('Give one of --approve and --reject.');
      const verdict = flags.approve ? 'approved' : 'rejected';
      show(command, await withOperator(flags, (operator) => operator.stores.review(store, verdict)));
    });
}

interface WebhookKeyFlags extends DatabaseFlags {
  overlap: number;
  confirm?: true;
}

function addWebhookKey(group: Command): void {
  const lines = [
    'florin stores webhook-key store_01…',
    'florin stores webhook-key store_01… key_01… --overlap 24h',
    'florin stores webhook-key store_01… --confirm',
  ];
  databaseCommand(group, 'webhook-key <store> [key]', lines)
    .description(
      "Show or name the key whose secret signs a store's webhooks. The one before goes on signing until the overlap " +
        'ends or the merchant confirms that it knows the new secret.',
    )
    .addOption(
      new Option('--overlap <duration>', 'how long the one before goes on signing: 30m, 24h, 7d, or 0')
        .argParser(parseDuration)
        .default(DAY_SECONDS, '24h'),
    )
    .option('--confirm', 'the merchant verifies the new secret: it signs from now on')
    .action(async (store: string, key: string | undefined, flags: WebhookKeyFlags, command: Command) => {
      if (flags.confirm && key !== undefined) throw wrongUsage('Name a key or give --confirm, not both.');
      const shown = await withOperator(flags, async ({ stores }) => {
        if (key !== undefined) return await stores.setWebhookKey(store, key, flags.overlap);
        return flags.confirm ? await stores.confirmWebhookKey(store) : await stores.webhookKey(store);
      });
      show(command, shown);
    });
}

export function addStores(program: Command): void {
  const group = program.command('stores').description('Stores of a merchant: they own the API keys');
  examples(group, ['florin stores create "Web shop"', 'florin stores review store_01… --approve']);
  addCreate(group);

  databaseCommand(group, 'list', ['florin stores list', 'florin stores list --merchant mer_01… --json'])
    .description('List stores')
    .option('--merchant <id>', 'of this merchant alone')
    .action(async (flags: DatabaseFlags & { merchant?: string }, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.stores.list(flags.merchant)));
    });

  addReview(group);

  databaseCommand(group, 'enable <store>', ['florin stores enable store_01…'])
    .description('Switch a store on')
    .action(async (store: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.stores.enable(store)));
    });

  databaseCommand(group, 'disable <store>', ['florin stores disable store_01…'])
    .description('Switch a store off: requests with its keys are 403')
    .action(async (store: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.stores.disable(store)));
    });

  addWebhookKey(group);
}

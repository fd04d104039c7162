import type { ConfigKey, Operator } from '@florin/server/operator';
import { type Command, Option } from 'commander';
import { examples } from './examples.ts';
import { withServer } from './server.ts';

/** Flags that select the database of an operator's command. */
export interface DatabaseFlags {
  databaseUrl?: string;
  dataDir?: string;
  masterKey?: string;
}

/** Other settings belong to the service: a wrong port must not break operators' commands. */
const READ: readonly ConfigKey[] = [
  'databaseUrl',
  'simchainUrl',
  'dataDir',
  'masterKey',
  'logLevel',
  'networksFile',
  'signer',
  'signerCertFile',
  'signerKeyFile',
  'signerCaFile',
  'outboundCaFile',
  'publicUrl',
];

const PLACE: readonly (readonly [flag: string, description: string])[] = [
  ['--database-url <url>', 'of a service of your own (DATABASE_URL)'],
  ['--master-key <key>', 'its master key (FLORIN_MASTER_KEY)'],
  ['--data-dir <folder>', 'that of the sandbox running on this folder (FLORIN_DATA_DIR, else ./.florin)'],
];

/** A command on the database: by default that of the sandbox running here. */
export function databaseCommand(group: Command, usage: string, lines: readonly string[]): Command {
  const command = group.command(usage);
  for (const [flag, description] of PLACE)
    command.addOption(new Option(flag, description).helpGroup('Database:'));
  return examples(command, lines);
}

/** Opens the operator's commands for `work` and closes them after it. */
export async function withOperator<T>(
  { databaseUrl, dataDir, masterKey }: DatabaseFlags,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  return await withServer(async (server) => {
    const whole = server.processEnvironment();
    const names = READ.map((key) => server.CONFIG_OPTIONS[key].env);
    const env = Object.fromEntries(names.map((name) => [name, whole[name]]));
    const config = server.readConfig(env, { databaseUrl, dataDir, masterKey }, { logLevel: 'error' });
    const operator = await server.openOperator(config);
    try {
      return await work(operator);
    } finally {
      await operator.close();
    }
  });
}

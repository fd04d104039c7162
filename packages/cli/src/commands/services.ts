import type { Config, ConfigFlags, ConfigKey, Running } from '@florin/server/operator';
import { type Command, Option } from 'commander';
import { sandboxBanner } from '../banner.ts';
import { examples } from '../examples.ts';
import { runUntilSignal } from '../lifecycle.ts';
import { loadServer, type ServerModule, withServer } from '../server.ts';
import { print, show, wantsJson } from '../show.ts';
import { noteProgress } from '../terminal.ts';

const MIGRATE_READS: readonly ConfigKey[] = ['databaseUrl', 'simchainUrl'];
const STILL_STARTING_MS = 3_000;
const SERVICES = new Set(['start', 'serve', 'work', 'migrate']);

/** Adds a service's settings as flags to its command; only the server package defines them. */
export async function addServiceSettings(command: Command): Promise<void> {
  if (!SERVICES.has(command.name()) || command.options.length > 0) return;
  const { CONFIG_OPTIONS } = await loadServer();
  for (const { flag, value, env, description } of Object.values(CONFIG_OPTIONS)) {
    const form = value === 'true' ? '[true]' : `<${value}>`;
    command.addOption(new Option(`${flag} ${form}`, `${description} ${env}`));
  }
}

/** Runs a start with progress lines on a terminal. */
async function withProgress<T>(first: string, start: () => Promise<T>): Promise<T> {
  noteProgress(first);
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    noteProgress(`… still starting, ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
  }, STILL_STARTING_MS);
  try {
    return await start();
  } finally {
    clearInterval(timer);
  }
}

/** A flag without a value is true. */
const wordsOf = (flags: object): ConfigFlags =>
  Object.fromEntries(Object.entries(flags).map(([key, value]) => [key, String(value)]));

/** One line, for programs that read the output of a running process. */
const printLine = (facts: object) => print(JSON.stringify(facts));

async function start(flags: object, command: Command): Promise<void> {
  await withServer(async (server) => {
    const config = server.readConfig(server.processEnvironment(), wordsOf(flags), { logLevel: 'warn' });
    await runUntilSignal(
      () => withProgress(firstLine(server, config), () => server.startSandbox(config)),
      (sandbox) => {
        const { baseUrl, credentialsFile, firstStart, credentials } = sandbox;
        const { merchant_id, store_id, api_key } = credentials;
        const facts = {
          base_url: baseUrl,
          merchant_id,
          store_id,
          api_key,
          credentials_file: credentialsFile,
        };
        if (wantsJson(command)) printLine({ ...facts, first_start: firstStart, pid: process.pid });
        else print(sandboxBanner(config, sandbox));
      },
    );
  });
}

function firstLine(server: ServerModule, config: Config): string {
  const folder = new server.DataFolder(config.dataDir);
  const isFirst = folder.readCredentials() === undefined;
  return `Starting in ${folder.path}${isFirst ? ', creating its database first' : ''} …`;
}

/** `serve` and `work`: a part of the service on the operator's database. */
async function runPart(
  pick: (server: ServerModule) => (config: Config) => Promise<Running>,
  flags: object,
  command: Command,
): Promise<void> {
  await withServer(async (server) => {
    const config = server.readConfig(server.processEnvironment(), wordsOf(flags), { logLevel: 'info' });
    await runUntilSignal(
      () => withProgress('Starting …', () => pick(server)(config)),
      ({ baseUrl }) => {
        const role = command.name();
        if (wantsJson(command)) printLine({ role, base_url: baseUrl ?? null, pid: process.pid });
        else print(baseUrl === undefined ? 'Florin works on jobs.' : `Florin serves ${baseUrl}/api/v1`);
      },
    );
  });
}

async function migrate(flags: object, command: Command): Promise<void> {
  await withServer(async (server) => {
    const whole = server.processEnvironment();
    const names = MIGRATE_READS.map((key) => server.CONFIG_OPTIONS[key].env);
    const env = Object.fromEntries(names.map((name) => [name, whole[name]]));
    const applied = await server.migrateDatabase(
      server.readConfig(env, wordsOf(flags), { logLevel: 'info' }),
    );
    if (wantsJson(command)) show(command, { applied });
    else print(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`);
  });
}

export function addServices(program: Command): void {
  examples(
    program.command('start').description('Run the sandbox: everything in one process, simulated money'),
    ['florin start', 'florin start --port 9000 --data-dir /var/tmp/florin', 'florin start --json'],
  ).action(start);
  examples(program.command('serve').description('Run an API node on your own PostgreSQL'), [
    'DATABASE_URL=postgres://… FLORIN_MASTER_KEY=… florin serve',
    'florin serve --host 0.0.0.0 --trusted-proxy',
  ]).action((flags: object, command: Command) => runPart((server) => server.serve, flags, command));
  examples(program.command('work').description('Run a worker on your own PostgreSQL'), [
    'DATABASE_URL=postgres://… FLORIN_MASTER_KEY=… florin work',
    'florin work --pool-size 20',
  ]).action((flags: object, command: Command) => runPart((server) => server.work, flags, command));
  examples(program.command('migrate').description('Migrate the schema of a database'), [
    'DATABASE_URL=postgres://… florin migrate',
    'florin migrate --json',
  ]).action(migrate);
}

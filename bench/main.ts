import { parseArgs } from 'node:util';
import { runBooks } from './books/experiment.ts';
import { runCheckout } from './checkout/experiment.ts';
import { runConsole } from './console/experiment.ts';
import { runCreate } from './create/experiment.ts';
import { pgbenchVersion } from './create/pgbench.ts';
import { type BenchServer, startServer } from './database.ts';
import { runEthereum } from './ethereum/experiment.ts';
import { runList } from './list/experiment.ts';
import { describeMachine } from './machine.ts';
import { runMail } from './mail/experiment.ts';
import { runNetworks } from './networks/experiment.ts';
import { runPage } from './page/experiment.ts';
import { runPayments } from './payments/experiment.ts';
import { runExports } from './payments/exports.ts';
import { installPeers, peerVersions } from './peers/peers.ts';
import { watchSteal } from './procfs.ts';
import { runCrash } from './queue/crash.ts';
import { runDrain } from './queue/drain.ts';
import { runIdle } from './queue/idle.ts';
import { runRenewals } from './renewals/experiment.ts';
import { addToPage, closing, type Report, table, writePage, writeReport } from './report.ts';
import { runRequestLog } from './request-log/experiment.ts';
import { type Findings, ROWS, type RowId, type RunOptions } from './rows.ts';
import { runStart } from './start/experiment.ts';
import { runGrowth } from './start/growth.ts';
import { runStory } from './start/story.ts';
import { runValidate } from './validate/experiment.ts';
import { runWebhooks } from './webhooks/experiment.ts';

const USAGE = `npm run bench -- [options]
  --quick          fewer and shorter rounds, for development
  --rounds <n>     interleaved rounds of every setting (5; quick: 3)
  --only <rows>    such as 1,2,6: these rows alone (12c alone takes 70 minutes, or 3 with --quick)
  --no-peers       do not install graphile-worker and pg-boss
  --profile <dir>  write CPU profiles of the measured processes
  --write-docs     write docs/benchmarks.md
  --add            with it: keep there what earlier runs on this machine measured of the other rows`;

const OPTIONS = {
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    profile: { type: 'string' },
    add: { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
} as const;

function readFlags() {
  try {
    return parseArgs(OPTIONS).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

const flags = readFlags();

/** `2,6a` → 2a, 2b, 6a. */
function wantedRows(only: string | undefined): Set<RowId> {
  const all = Object.keys(ROWS) as RowId[];
  if (only === undefined) return new Set(all);
  const asked = only.split(',').map((name) => name.trim());
  return new Set(all.filter((row) => asked.includes(row) || asked.includes(row.replace(/[a-z]$/, ''))));
}

interface Experiment {
  rows: readonly RowId[];
  run(server: BenchServer, options: RunOptions): Promise<Findings>;
}

const EXPERIMENTS: readonly Experiment[] = [
  { rows: ['1', '2a', '2b', '3'], run: runCreate },
  { rows: ['4'], run: runValidate },
  { rows: ['5a', '5b', '5c', '5d', '5e'], run: runList },
  { rows: ['6a', '6b', '6c', '6d'], run: runDrain },
  { rows: ['7'], run: runIdle },
  { rows: ['8a', '8b', '8c'], run: runCrash },
  { rows: ['9a', '9b', '9c', '11'], run: runWebhooks },
  { rows: ['10a', '10b', '10c'], run: runRenewals },
  { rows: ['12a', '12b', '12d', '12e'], run: runStart },
  { rows: ['12c'], run: runGrowth },
  { rows: ['13a', '13b', '13c', '13d'], run: runCheckout },
  { rows: ['14'], run: runPage },
  { rows: ['15a', '15b'], run: runBooks },
  { rows: ['16a', '16b', '16c', '16d', '22a', '22b'], run: runPayments },
  { rows: ['17a', '17b'], run: runExports },
  {
    rows: ['18a', '18b', '18c', '18d', '18e', '18f', '18g', '18h', '20a', '20b', '20c', '20d'],
    run: runEthereum,
  },
  { rows: ['19a', '19b'], run: runMail },
  { rows: ['22c'], run: runConsole },
  { rows: ['22d', '22e'], run: runStory },
  { rows: ['21a', '21b', '21c', '21d'], run: runRequestLog },
  { rows: ['23a', '23b', '23c', '23d', '23e', '23f', '23g', '23h'], run: runNetworks },
];

async function runAll(options: RunOptions): Promise<Report> {
  const stolen = watchSteal();
  const server = await startServer();
  const findings: Findings = { results: [], remarks: [] };
  try {
    for (const experiment of EXPERIMENTS.filter(({ rows }) => rows.some((row) => options.wanted.has(row)))) {
      options.log(`Rows ${experiment.rows.filter((row) => options.wanted.has(row)).join(', ')}`);
      const { results, remarks } = await experiment.run(server, options);
      findings.results.push(...results);
      findings.remarks.push(...remarks);
    }
    return {
      ...findings,
      command: `npm run bench${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}`,
      at: new Date().toISOString(),
      quick: options.quick,
      rounds: options.rounds,
      stolenShare: stolen(),
      machine: describeMachine(),
      versions: {
        postgresql: server.version,
        settings: server.settings,
        pgbench: pgbenchVersion() ?? 'absent: the same SQL by the pg driver',
        ...Object.fromEntries(
          Object.entries(peerVersions()).map(([peer, version]) => [peer, version ?? 'absent']),
        ),
      },
    };
  } finally {
    await server.stop();
  }
}

if (flags.help) {
  console.log(USAGE);
} else if (flags.add && !flags['write-docs']) {
  console.error('--add says what --write-docs keeps: give both.');
  process.exitCode = 2;
} else if (wantedRows(flags.only).size === 0) {
  console.error(`--only: there is no row ${flags.only}. Rows are ${Object.keys(ROWS).join(', ')}.`);
  process.exitCode = 2;
} else if (flags.rounds !== undefined && !/^[1-9]\d{0,3}$/.test(flags.rounds)) {
  console.error('--rounds takes a whole number from 1.');
  process.exitCode = 2;
} else {
  const log = (line: string) => console.log(line);
  const wanted = wantedRows(flags.only);
  if (!flags['no-peers'] && ['6a', '6b', '6c', '6d', '7'].some((row) => wanted.has(row as RowId))) {
    await installPeers(log);
  }
  if (pgbenchVersion() === undefined) {
    log(
      'pgbench is not installed (Debian: apt-get install postgresql-contrib): the same SQL runs by the pg driver.',
    );
  }
  const rounds = Number(flags.rounds ?? (flags.quick ? 3 : 5));
  const report = await runAll({ wanted, rounds, quick: flags.quick, profileDir: flags.profile, log });
  console.log(`\n${table(report)}\n`);
  await writeReport(report);
  if (flags['write-docs']) await writePage(flags.add ? await addToPage(report) : [report]);
  console.log(closing(report));
  process.exitCode = closing(report).includes('FAILED') ? 1 : 0;
}

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { columnsOf } from '../columns.ts';
import { parseWhole } from '../duration.ts';
import { operator } from '../operations.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { limit, parsed, text } from '../options.ts';
import { resource } from '../resource.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { formatTable } from '../table.ts';

type Entry = Awaited<ReturnType<Operator['audit']['list']>>[number];
type Report = Awaited<ReturnType<Operator['audit']['verify']>>;

interface Scope {
  merchant?: string;
}

const OF_MERCHANT = ['--merchant <id>', 'of this merchant; else of the installation'] as const;
const FAULTS: Readonly<Record<Report[number]['faults'][number]['fault'], string>> = {
  changed: 'is not as it was written',
  missing: 'is missing',
  unlinked: 'does not follow the entry before it',
  head: 'is the last one, and another was written last',
  not_as_noted: 'is not as it was noted',
};

const listed = columnsOf<Entry>()('number at actor action phase attempt from', {
  from: ({ origin }) => origin,
});

function addExport(group: Command): void {
  databaseCommand(group, 'export', ['florin audit export --merchant mer_01… > audit.jsonl'])
    .description('Write all entries as lines of JSON, oldest first')
    .option(...OF_MERCHANT)
    .action(async (flags: DatabaseFlags & Scope) => {
      await withOperator(flags, ({ audit }) =>
        pipeline(Readable.from(audit.export(flags)), process.stdout, { end: false }),
      );
    });
}

function printReport(report: Report): void {
  const rows = report.map(({ merchant, entries, head, faults }) => ({
    merchant,
    entries,
    faults: faults.length,
    head,
  }));
  if (rows.length > 0) print(`${formatTable(rows)}\n`);
  for (const { merchant, faults } of report)
    for (const { number, fault } of faults) print(`${merchant}: entry ${number} ${FAULTS[fault]}.`);
  const faulty = report.filter(({ faults }) => faults.length > 0).length;
  print(
    faulty === 0 ? 'Every entry is as it was written.' : `${faulty} of ${report.length} logs are not whole.`,
  );
}

function addVerify(group: Command): void {
  databaseCommand(group, 'verify', [
    'florin audit verify',
    'florin audit verify --merchant mer_01… --noted 42:9f86d081…   # the head that an earlier run printed',
  ])
    .description(
      'Recompute the hash and the seal of every entry, and compare their order. Exit code 1: an entry was changed, ' +
        'is missing or stands elsewhere. Entries that were cut off the end with their head show only against a head that was noted before.',
    )
    .option('--merchant <id>', 'of this merchant alone')
    .option(
      '--noted <head>',
      'NUMBER:HASH that must be among the entries; without --merchant, of the installation',
    )
    .action(async (flags: DatabaseFlags & Scope & { noted?: string }, command: Command) => {
      const report = await withOperator(flags, ({ audit }) => audit.verify(flags));
      if (wantsJson(command)) print(toJson(report));
      else printReport(report);
      if (report.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
    });
}

export const addAudit = resource({
  name: 'audit',
  description: 'The audit log: who changed what',
  examples: ['florin audit list --merchant mer_01…', 'florin audit verify'],
  operations: [
    operator(listed)('list', 'List what people, keys and operators have changed, newest first', {
      examples: ['florin audit list', 'florin audit list --merchant mer_01… --limit 100 --json'],
      options: {
        merchant: text(...OF_MERCHANT),
        limit,
        before: parsed('--before <number>', 'entries below this number', parseWhole),
      },
      run: ({ audit }, query) => audit.list(query),
    }),
    addExport,
    addVerify,
  ],
});

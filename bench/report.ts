import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Machine } from './machine.ts';
import { type Findings, ROWS, type RowDefinition, type RowResult } from './rows.ts';
import { median, medianAndSpread } from './statistics.ts';

/** One run. */
export interface Report extends Findings {
  command: string;
  /** When it ended, as in ISO 8601. */
  at: string;
  quick: boolean;
  rounds: number;
  stolenShare: number;
  machine: Machine;
  versions: Record<string, string>;
}

export type Verdict = 'goal reached' | 'above the floor' | 'BELOW THE FLOOR' | 'not measured';

/** How a row stands. The median decides. */
export function verdictOf(result: RowResult): Verdict {
  if ('missing' in result) return 'not measured';
  const row: RowDefinition = ROWS[result.row];
  const value = median(result.values);
  const meets = (limit: number) => (row.better === 'higher' ? value >= limit : value <= limit);
  if (meets(row.goal)) return 'goal reached';
  return meets(row.floor) ? 'above the floor' : 'BELOW THE FLOOR';
}

function cells(result: RowResult): string[] {
  const { title, unit, better, goal, floor }: RowDefinition = ROWS[result.row];
  const sign = better === 'higher' ? '>=' : '<=';
  const suffix = unit === '' ? '' : ` ${unit}`;
  const measured = 'missing' in result ? result.missing : `${medianAndSpread(result.values)}${suffix}`;
  const note = 'note' in result && result.note !== undefined ? ` (${result.note})` : '';
  const goals = [goal, floor].map((limit) => `${sign} ${limit}${suffix}`);
  return [result.row, title, `${measured}${note}`, ...goals, verdictOf(result)];
}

const HEAD = ['#', 'what', 'median [min-max]', 'goal', 'floor', 'verdict'];

/** For a terminal. */
export function table(report: Report): string {
  const rows = [HEAD, ...report.results.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, '', ...report.remarks, ...circumstances(report)].join('\n');
}

function circumstances({ machine, versions, rounds, quick, stolenShare }: Report): string[] {
  return [
    `Machine: ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}; ` +
      `client, service and database share it; ${(stolenShare * 100).toFixed(1)} % of it was stolen during the run.`,
    `Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join('; ')}.`,
    `Rounds: ${rounds}, interleaved${quick ? ', short (--quick: rough numbers)' : ''}. Only ratios of one run compare.`,
  ];
}

/** The page of the documentation. @param runs each with the rows that it measured last */
export function markdown(runs: readonly Report[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const results = runs
    .flatMap((run) => run.results)
    .sort((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }));
  return [
    '# Benchmarks',
    '',
    'Written by `npm run bench -- --write-docs`. Rates depend on the machine, so every row is a ratio of things measured',
    'beside each other in one run, or an absolute limit that any machine should keep. The floor fails the command.',
    '',
    line(HEAD),
    line(HEAD.map(() => '---')),
    ...results.map((result) => line(cells(result))),
    '',
    ...runs.flatMap((run) => [
      `    ${run.command}`,
      '',
      ...aboutRun(run, runs).map((text) => `- ${text}`),
      '',
    ]),
  ].join('\n');
}

function aboutRun(run: Report, runs: readonly Report[]): string[] {
  const rows = run.results.map(({ row }) => row).join(', ');
  const which = runs.length === 1 ? [] : [`Rows ${rows}, measured on ${run.at.slice(0, 10)}.`];
  return [...which, ...run.remarks, ...circumstances(run)];
}

const LATEST = new URL('./results/latest.json', import.meta.url);
/** The runs that the page of the documentation shows. Kept beside it, so that a run can be added in any copy. */
const PAGE_RUNS = new URL('./page.json', import.meta.url);
const PAGE = new URL('../docs/benchmarks.md', import.meta.url);

/** The runs of the page, with what they have left beside this one. */
export async function addToPage(report: Report): Promise<Report[]> {
  return addRun(await readPageRuns(), report);
}

export async function readPageRuns(): Promise<Report[]> {
  return (JSON.parse(await readFile(PAGE_RUNS, 'utf8')) as { runs: Report[] }).runs;
}

/** Earlier runs without the rows that this one has measured anew, and this one. */
export function addRun(earlier: readonly Report[], report: Report): Report[] {
  const measured = new Set(report.results.map(({ row }) => row));
  const others = earlier.map((run) => ({
    ...run,
    results: run.results.filter(({ row }) => !measured.has(row)),
  }));
  return [...others.filter(({ results }) => results.length > 0), report];
}

/** Beside the table: everything that was measured, for programs. */
export async function writeReport(report: Report): Promise<void> {
  const results = report.results.map((result) => ({ ...result, verdict: verdictOf(result) }));
  await writeJson(LATEST, { ...report, results });
}

/** The page of the documentation, and what another run can be added to. */
export async function writePage(runs: readonly Report[]): Promise<void> {
  await writeJson(PAGE_RUNS, { runs });
  await writeFile(PAGE, markdown(runs));
}

async function writeJson(file: URL, contents: object): Promise<void> {
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, `${JSON.stringify(contents, null, 2)}\n`);
}

/** The last line of a run. */
export function closing({ results }: Report): string {
  const count = (verdict: Verdict) => results.filter((result) => verdictOf(result) === verdict).length;
  const failed = count('BELOW THE FLOOR');
  return (
    `${results.length} rows: ${count('goal reached')} reached their goal, ${count('above the floor')} are above their ` +
    `floor, ${failed} below it, ${count('not measured')} not measured${failed > 0 ? ': FAILED' : ''}`
  );
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const SERVER = 'packages/server/src';
const FIVE_PARAMETERS = 'export function f(a: 1, b: 1, c: 1, d: 1, e: 1) {\n  return a + b + c + d + e;\n}';
const OPEN_SWITCH =
  "export function f(a: 'b' | 'c') {\n  switch (a) {\n    case 'b':\n      return 1;\n  }\n}";

type Row = [folder: string, what: string, code: string];

/** Imports that break the levels, a face, a door or the edge of a package. */
const IMPORTS: Row[] = [
  [`${SERVER}/payouts`, 'a higher level', "import '../subscriptions/index.ts';"],
  [`${SERVER}/payouts`, 'a sister', "import '../webhooks/index.ts';"],
  [`${SERVER}/payments`, 'checkout from payments', "import '../checkout/index.ts';"],
  [`${SERVER}/payouts`, 'a type from above', "export type { A } from '../checkout/index.ts';"],
  [`${SERVER}/payouts`, "a module's inside", "import '../ledger/post.ts';"],
  [`${SERVER}/payouts`, "a folder's inside", "import '../ledger/balances/queries.ts';"],
  [`${SERVER}/payouts`, "a platform folder's inside", "import '../platform/outbound/dial.ts';"],
  [`${SERVER}/platform`, 'the request log from what it observes', "import '../request-log/index.ts';"],
  [`${SERVER}/request-log`, 'a sister', "import '../mail/index.ts';"],
  [`${SERVER}/request-log`, 'a higher level', "import '../payouts/index.ts';"],
  [`${SERVER}/platform`, 'a higher level, late', "export const f = () => import('../stores/index.ts');"],
  [`${SERVER}/payouts`, "a folder's inside in platform", "import '../platform/db/ids/ids.ts';"],
  [`${SERVER}/payouts`, "a higher level's folder", "import '../payments/charges/index.ts';"],
  [`${SERVER}/ledger`, 'the composition root', "export * from '../app.ts';"],
  [SERVER, "a module's inside from the root", "import './payouts/queries.ts';"],
  [`${SERVER}/operator`, "a module's inside from the operator's calls", "import '../payouts/queries.ts';"],
  [`${SERVER}/subscriptions/decide`, 'the database from a decision', "import '../../platform/db/index.ts';"],
  [`${SERVER}/subscriptions/decide`, 'a query from a decision', "import '../queries.ts';"],
  [`${SERVER}/payouts`, "a chain's library", "import 'viem';"],
  [`${SERVER}/chains`, "the database's driver", "import 'pg';"],
  [`${SERVER}/payouts`, 'a package that the server may not use', "import '@florin/sdk';"],
  ['packages/sdk/src', 'the server from the sdk', "import '@florin/server';"],
  ['packages/contract/src', 'a package by its path', "import '../../server/src/app.ts';"],
];

/** What else is refused, each with the rule that has to see it. */
const OTHERS: [rule: string, what: string, code: string][] = [
  ['no-floating-promises', 'a floating promise', 'Promise.resolve(1);'],
  ['no-misused-promises', 'a promise as a condition', "if (Promise.resolve(1)) throw new Error('a');"],
  ['no-process-env', 'the environment', 'export const a = process.env.A;'],
  ['no-restricted-globals', 'the time', 'export const a = new Date();'],
  ['no-restricted-globals', 'fetch', "export const a = () => fetch('http://a');"],
  ['no-restricted-properties', 'Math.random', 'export const a = Math.random();'],
  ['no-explicit-any', 'any', 'export const a = (b: any): unknown => b;'],
  ['max-lines', 'a file over 400 lines', 'void 0;\n'.repeat(400)],
  ['max-lines-per-function', 'a function over 70 lines', `export function f() {\n${'void 0;\n'.repeat(70)}}`],
  ['max-params', 'five parameters', FIVE_PARAMETERS],
  ['switch-exhaustiveness-check', 'a switch with a hole', OPEN_SWITCH],
];

const CYCLE = `${SERVER}/payouts/planted-cycle`;

const planted = [
  ...IMPORTS.map(([folder, what, code]) => ({ folder, what, code, rule: 'no-restricted-imports' })),
  ...OTHERS.map(([rule, what, code]) => ({ folder: `${SERVER}/payouts`, what, code, rule })),
].map((one, index) => ({ ...one, file: `${one.folder}/planted-${index}.ts` }));

const files = [
  ...planted.map(({ file, code }) => ({ file, code })),
  {
    file: `${CYCLE}-a.ts`,
    code: "import type { B } from './planted-cycle-b.ts';\nexport interface A {\n  b?: B;\n}",
  },
  {
    file: `${CYCLE}-b.ts`,
    code: "import type { A } from './planted-cycle-a.ts';\nexport interface B {\n  a?: A;\n}",
  },
];

/** Folders made only to plant in them. */
const madeFolders: string[] = [];

/** `file rule`, one entry for each thing the linter said. */
let refused: string[] = [];

function plant(): void {
  for (const { file, code } of files) {
    const made = mkdirSync(path.join(ROOT, path.dirname(file)), { recursive: true });
    if (made !== undefined) madeFolders.push(made);
    writeFileSync(path.join(ROOT, file), `${code}\nexport {};\n`);
  }
}

function uproot(): void {
  for (const { file } of files) rmSync(path.join(ROOT, file), { force: true });
  for (const folder of madeFolders) {
    if (existsSync(folder) && readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
  }
}

/** One run of the linter over all planted files: with types, each run costs a second. */
function lint(): string[] {
  const names = files.map(({ file }) => file);
  const oxlint = path.join(ROOT, 'node_modules', '.bin', 'oxlint');
  const { stdout } = spawnSync(oxlint, ['--format', 'json', ...names], { cwd: ROOT, encoding: 'utf8' });
  const answer: { diagnostics: { filename: string; code?: string }[] } = JSON.parse(stdout);
  return answer.diagnostics.map(({ filename, code = '' }) => `${filename} ${/\(([^)]+)\)$/.exec(code)?.[1]}`);
}

beforeAll(() => {
  try {
    plant();
    refused = lint();
  } finally {
    uproot();
  }
});

afterAll(uproot);

for (const { file, what, folder, rule } of planted) {
  test(`the linter refuses ${what} in ${folder} by ${rule}`, () => {
    expect(refused).toContain(`${file} ${rule}`);
  });
}

test('the linter refuses two files that import each other, if only types', () => {
  expect(refused).toContain(`${CYCLE}-a.ts no-cycle`);
});

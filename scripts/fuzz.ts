import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { execute } from './step.ts';

const USAGE = `npm run fuzz -- [options]
  Sends requests made from the service's own OpenAPI document, right ones and broken ones, to a service on a
  database of its own, and checks every answer against the document.

  --seed <n>       0 to 4294967295; the same seed sends the same requests (another one each time)
  --requests <n>   how many (600)
  --index <n>      one case of the seed alone, as a finding names it
  --json           prints nothing but the report, as JSON
  --help`;

function wholeNumber(name: string, text: string | undefined): string | undefined {
  if (text === undefined || (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32)) return text;
  console.error(`--${name} takes a whole number from 0 to 4294967295, not "${text}"\n\n${USAGE}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        requests: { type: 'string' },
        index: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

interface Report {
  seed: number;
  requests: number;
  cases: number;
  seconds: number;
  findings: unknown[];
}

const options = readOptions();
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const asked = {
  FLORIN_FUZZ_SEED: wholeNumber('seed', options.seed),
  FLORIN_FUZZ_REQUESTS: wholeNumber('requests', options.requests),
  FLORIN_FUZZ_INDEX: wholeNumber('index', options.index),
};
const env = Object.fromEntries(
  Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
const folder = await mkdtemp(path.join(tmpdir(), 'florin-fuzz-'));
const file = path.join(folder, 'report.json');
try {
  const { ok } = await execute('vitest', ['run', 'test/fuzz'], {
    env: { ...env, FLORIN_FUZZ_REPORT: file },
    quiet: options.json,
  });
  const text = readFileSync(file, 'utf8');
  const report: Report = JSON.parse(text);
  const { seed, requests, cases, seconds, findings } = report;
  if (options.json) console.log(JSON.stringify({ ok, ...report }, null, 2));
  else
    console.log(
      `seed ${seed}: ${requests} requests in ${cases} cases, ${seconds} s, ${findings.length} findings`,
    );
  process.exitCode = ok ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

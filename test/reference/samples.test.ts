import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentedExample } from '../../packages/server/src/docs/index.ts';
import { compile } from '../compile.ts';
import { loadApi, type Schema } from '../http/operations.ts';
import { share } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { ExampleMaker, inLanes, REFUSED_BY_SANDBOX } from './run-examples.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** As a shop has it: outside of the repository, with the packages that it installed. */
const FOLDER = mkdtempSync(path.join(tmpdir(), 'florin-samples-'));
const LONG = { timeout: 600_000 };
const LANGUAGES = ['shell', 'python', 'typescript'] as const;

const hasProgram = (name: string, words: string[]) => {
  const isThere = spawnSync(name, words).status === 0;
  if (!isThere) console.log(`skipped: there is no ${name} on this machine`);
  return isThere;
};

let service: TestService;
let maker: ExampleMaker;
const answerSchemas = new Map<string, (answer: unknown) => boolean>();

beforeAll(async () => {
  service = await startService({ worker: true });
  maker = new ExampleMaker(service);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(FOLDER, 'node_modules'));
  writeFileSync(path.join(FOLDER, 'package.json'), '{"type":"module"}');
  const api = await loadApi(service.baseUrl);
  const paths = api.document.paths as Record<
    string,
    Record<
      string,
      { operationId: string; responses: { 200: { content: Record<string, { schema: Schema }> } } }
    >
  >;
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const schema = operation.responses[200].content['application/json']?.schema;
    if (schema !== undefined) answerSchemas.set(operation.operationId, api.compile(schema));
  }
});
afterAll(async () => {
  await service.stop();
  rmSync(FOLDER, { recursive: true, force: true });
});

const sourceOf = (operationId: string, lang: string): string => {
  const route = maker.routes.find((one) => one.operationId === operationId);
  const sample = route && documentedExample(route).samples.find((one) => one.lang === lang);
  if (sample === undefined) throw new Error(`${operationId} has no code for ${lang}`);
  return sample.source;
};

async function run(program: string, words: string[], { apiKey, secretKey }: TestMerchant): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    FLORIN_BASE_URL: service.baseUrl,
    FLORIN_API_KEY: apiKey,
    FLORIN_SECRET_KEY: secretKey,
  };
  const { stdout } = await promisify(execFile)(program, words, { cwd: FOLDER, env, maxBuffer: 2 ** 26 });
  return stdout;
}

const isWell = (printed: string) => printed.trim() !== '' && !/\bError\b/.test(printed);
const jsonOf = (printed: string): unknown => {
  try {
    return JSON.parse(printed);
  } catch {
    return printed;
  }
};

/** Runs the code of each operation for a merchant who has what it names. @returns what went wrong */
async function runAll(
  lang: (typeof LANGUAGES)[number],
  start: (file: string, merchant: TestMerchant) => Promise<string>,
  extension: string,
) {
  const faults: string[] = [];
  const all = maker.routes
    .map(({ operationId }) => operationId)
    .filter((id) => !REFUSED_BY_SANDBOX.includes(id));
  // The samples are written from one description of the operation, which each language brings to a third of them.
  const ids = share(all, LANGUAGES.indexOf(lang), LANGUAGES.length);
  await inLanes(ids, async (operationId) => {
    const { merchant, fill } = await maker.make(operationId);
    const file = `${operationId}.${extension}`;
    writeFileSync(path.join(FOLDER, file), fill(sourceOf(operationId, lang)));
    const printed = await start(file, merchant).catch((error: Error & { stderr?: string }) => {
      return error.stderr ?? error.message;
    });
    const fits = answerSchemas.get(operationId);
    const isAnswer = lang === 'typescript' || fits === undefined ? isWell(printed) : fits(jsonOf(printed));
    if (!isAnswer) faults.push(`${operationId} has printed ${printed}`);
  });
  return faults.join('\n');
}

describe('the code of the reference runs as it is shown', () => {
  test.skipIf(!hasProgram('curl', ['--version']) || !hasProgram('openssl', ['version']))(
    'curl',
    LONG,
    async () => {
      expect(await runAll('shell', (file, merchant) => run('sh', ['-e', file], merchant), 'sh')).toBe('');
    },
  );

  test.skipIf(!hasProgram('python3', ['--version']))('Python', LONG, async () => {
    expect(await runAll('python', (file, merchant) => run('python3', [file], merchant), 'py')).toBe('');
  });

  test('the TypeScript SDK', LONG, async () => {
    expect(
      await runAll('typescript', (file, merchant) => run(process.execPath, [file], merchant), 'ts'),
    ).toBe('');
  });

  test('all TypeScript is sound by the types of the SDK', LONG, async () => {
    const files = maker.routes.map(({ operationId }) => {
      writeFileSync(path.join(FOLDER, `${operationId}.ts`), sourceOf(operationId, 'typescript'));
      return `${operationId}.ts`;
    });
    expect(await compile(FOLDER, files)).toBe('');
  });
});

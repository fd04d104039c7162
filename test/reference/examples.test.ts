import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadApi, type Schema } from '../http/operations.ts';
import { startService, type TestService } from '../service.ts';
import { Recorder } from './recorded.ts';
import { ExampleMaker, inLanes, REFUSED_BY_SANDBOX } from './run-examples.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const ANSWERS = path.join(ROOT, 'packages/server/src/docs/examples/answers.json');
/** `FLORIN_WRITE_EXAMPLES=1 npx vitest run test/reference/examples.test.ts` records the answers anew. */
const IS_WRITING = process.env.FLORIN_WRITE_EXAMPLES !== undefined;

let service: TestService;
let maker: ExampleMaker;

beforeAll(async () => {
  service = await startService({ worker: true });
  maker = new ExampleMaker(service);
});
afterAll(() => service.stop());

async function answerTo(operationId: string) {
  const { merchant, request, fill } = await maker.make(operationId);
  return { fill, answer: await maker.send(merchant, request) };
}

interface Documented {
  operationId: string;
  parameters: { name: string; in: string; required: boolean; example?: unknown; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema; example?: unknown } } };
  responses: { 200: { content: Record<string, { schema: Schema; example?: unknown }> } };
  'x-codeSamples': { lang: string; source: string }[];
}

async function documented() {
  const api = await loadApi(service.baseUrl);
  const paths = api.document.paths as Record<string, Record<string, Documented>>;
  return { api, operations: Object.values(paths).flatMap((methods) => Object.values(methods)) };
}

test('every example is answered with 200 at the first try', { timeout: 300_000 }, async () => {
  const answers: Record<string, unknown> = {};
  const began = Math.floor(Date.now() / 1_000);
  const refused: string[] = [];
  await inLanes(maker.routes, async ({ operationId }) => {
    const { fill, answer } = await answerTo(operationId);
    const { status, json, text } = answer;
    if (status !== 200) {
      refused.push(operationId);
      if (!REFUSED_BY_SANDBOX.includes(operationId)) console.error(operationId, text);
    }
    answers[operationId] = new Recorder(began, service.baseUrl, maker.examples, fill).record(json);
  });
  expect(refused.toSorted()).toEqual(REFUSED_BY_SANDBOX);
  expect(maker.routes.length).toBeGreaterThan(70);
  if (IS_WRITING) write(answers);
});

function write(answers: Record<string, unknown>): void {
  const { id, type } = answers.retrieveEvent as { id: string; type: string };
  const told = JSON.stringify(answers.retrieveEvent);
  const all = {
    ...answers,
    // What only real money is answered with looks like these.
    approvePayoutBatch: answers.submitPayoutBatch,
    approveRefund: answers.claimSandboxRefund,
    streamEvents: `id: ${id}\nevent: ${type}\ndata: ${told}\n\n`,
  };
  const sorted = Object.entries(all).toSorted(([a], [b]) => a.localeCompare(b));
  writeFileSync(ANSWERS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

describe.skipIf(IS_WRITING)('what the document shows of each operation', () => {
  test('are a request and an answer that its own schemas allow', async () => {
    const { api, operations } = await documented();
    const check = (schema: Schema, example: unknown, what: string) => {
      expect(example, what).toBeDefined();
      const fits = api.compile(schema);
      expect([fits(example), fits.errors], what).toEqual([true, null]);
    };
    for (const { operationId, parameters, requestBody, responses } of operations) {
      for (const { name, in: place, required, example, schema } of parameters)
        if (place === 'path' || (place === 'query' && (required || example !== undefined)))
          check(schema, example, `${operationId} ${name}`);
      const body = requestBody?.content['application/json'];
      if (body !== undefined) check(body.schema, body.example, `${operationId} body`);
      const [answer] = Object.values(responses[200].content);
      check(answer?.schema ?? {}, answer?.example, `${operationId} answer`);
    }
  });

  test('are whole: a list has an item, and nothing of another machine or time is in it', async () => {
    const { operations } = await documented();
    for (const { operationId, responses } of operations) {
      const [answer] = Object.values(responses[200].content);
      const { data } = (answer?.example ?? {}) as { data?: unknown };
      if (Array.isArray(data)) expect(data.length, operationId).toBeGreaterThan(0);
      expect(JSON.stringify(answer?.example), operationId).not.toMatch(/127\.0\.0\.1:(?!8420)|undefined/);
    }
  });

  test('is code for curl, the SDK and Python', async () => {
    for (const { operationId, 'x-codeSamples': samples } of (await documented()).operations)
      expect(
        samples.map(({ lang }) => lang),
        operationId,
      ).toEqual(['shell', 'typescript', 'python']);
  });
});

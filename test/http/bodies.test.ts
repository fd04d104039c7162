import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  byteOrderMarks,
  invalidUtf8,
  jsonDocuments,
  pollutingObjects,
  surrogateTexts,
} from '../own-cases/json.ts';
import { FULL } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';
import { expectError, isPayoutPath } from './expect-error.ts';
import {
  type Api,
  callOf,
  fieldsOf,
  jsonWith,
  loadApi,
  type Operation,
  paramOf,
  type Schema,
  sampleOf,
  takesMetadata,
} from './operations.ts';

// Each test sends hundreds of bodies to every call that takes one.

let service: TestService;
let merchant: TestMerchant;
let api: Api;
let ids: Record<string, string>;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
  api = await loadApi(service.baseUrl);
  const batch = await merchant.sdk.payouts.create({
    currency: 'USDT',
    items: [{ network: 'erc20', address: 'nowhere', amount: '1.00' }],
  });
  const items = await send(`${service.baseUrl}/api/v1/payout-batches/${batch.batch_id}/items`, merchant);
  const [item] = items.json.data as { item_id: string }[];
  ids = { batch_id: batch.batch_id, item_id: item?.item_id ?? '' };
});
afterAll(() => service.stop());

type WithBody = Operation & { body: Schema };
const withBody = () =>
  api.operations.filter((operation): operation is WithBody => operation.body !== undefined);

async function sendBody(operation: Operation, body: string | Uint8Array): Promise<Answer> {
  const { url, options } = callOf(service.baseUrl, api, operation, ids);
  return await send(url, merchant, { ...options, body });
}

async function expectInvalid(
  operation: Operation,
  body: string | Uint8Array,
  expected: { code?: string; param?: string } = {},
): Promise<void> {
  const answer = await sendBody(operation, body);
  const shown = typeof body === 'string' ? body.slice(0, 200) : Buffer.from(body).toString('latin1', 0, 200);
  expect([operation.operationId, shown, answer.status]).toEqual([operation.operationId, shown, 400]);
  const structured = { status: 400, ...expected };
  const payout = { status: 400, code: 'invalid_request' };
  expectError(answer, operation.path, isPayoutPath(operation.path) ? payout : structured);
}

const invalid = { code: 'invalid_request_error' };

test('every sample body of these tests fits its schema, so that what is refused is what was changed', () => {
  expect(withBody().length).toBeGreaterThan(4);
  for (const { operationId, body } of withBody()) {
    const fits = api.compile(body);
    for (const fields of ['required', 'all'] as const) {
      expect([operationId, fields, fits(sampleOf(api, body, fields))]).toEqual([operationId, fields, true]);
    }
  }
});

test('D2: documents of JSON and not JSON as the body of every call: 400, never 5xx', async () => {
  const cases = jsonDocuments();
  const whole = ['createPayoutBatch', 'fundSandbox'];
  for (const [place, operation] of withBody().entries()) {
    // Where time is short two calls take all documents, and each other one a tenth of its own.
    const takesAll = FULL || whole.includes(operation.operationId);
    const part = cases.filter((_, at) => takesAll || at % 10 === place % 10);
    const statuses: [name: string, ok: boolean][] = await Promise.all(
      part.map(async ({ name, expect: expected, bytes: body }) => {
        const { status, json } = await sendBody(operation, body);
        // An empty body and `{}` say nothing; where nothing is required they are the call itself.
        const says = body.length > 0 && body.toString().replaceAll(/\s/g, '') !== '{}';
        const refused =
          status === 400 && (isPayoutPath(operation.path) ? json.data === null : 'error' in json);
        return [`${name} ${expected} ${status}`, refused || (!says && status < 500)];
      }),
    );
    expect(statuses.filter(([, ok]) => !ok)).toEqual([]);
  }
}, 120_000);

const textOf = (bytes: Uint8Array) =>
  Buffer.concat([
    Buffer.from(
      '{"currency":"USDT","items":[{"network":"erc20","address":"a","amount":"1.00"}],"description":"',
    ),
    bytes,
    Buffer.from('"}'),
  ]);
const create = () => operationOf('createPayoutBatch');
function operationOf(operationId: string): Operation {
  const operation = api.operations.find((one) => one.operationId === operationId);
  if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
  return operation;
}

test('D2: bytes that are no UTF-8 are 400', async () => {
  for (const { input } of invalidUtf8()) await expectInvalid(create(), textOf(Uint8Array.from(input)));
});

test('D2: a byte order mark before the body is 400, in whatever encoding', async () => {
  const body = textOf(Buffer.from('x'));
  await expectInvalid(create(), Buffer.from(body.toString(), 'utf16le'));
  for (const { bom, bytes, decoded, wrong_boms_as_garbage: wrong } of byteOrderMarks()) {
    for (const mark of [bom, ...Object.values(wrong)])
      await expectInvalid(create(), Buffer.concat([Uint8Array.from(mark), body]));
    const stored = await sendBody(create(), textOf(Uint8Array.from(bytes)));
    expect(stored.json.description).toBe(decoded);
    const inside = await sendBody(create(), textOf(Uint8Array.from([...bom, ...bytes])));
    expect(inside.json.description).toBe(`\ufeff${decoded}`);
  }
});

test('D2: a lone surrogate is 400, a pair is stored as it is', async () => {
  for (const input of surrogateTexts()) {
    const body = textOf(Buffer.from(JSON.stringify(input).slice(1, -1)));
    if (input.isWellFormed()) expect((await sendBody(create(), body)).json.description).toBe(input);
    else await expectInvalid(create(), body);
  }
});

const TRAPS = [
  '{"a":1,"a":1}',
  '{"currency":"USDT","currency":"USDT"}',
  '{"currency":"USDT","\\u0063urrency":"USDT"}',
  '{"description":"a\\u0000b"}',
  '{"\\u0000":1}',
  '{"description":"\\ud800"}',
  '{"\\udfff":1}',
  '{"n":9007199254740992}',
  '{"n":-9007199254740992}',
  '{"n":1e1}',
  '{"n":1E400}',
  '{"n":-0}',
  '{"n":1.0}',
  '{"n":10000000000000000000000000000000000000000}',
  '[]',
  '[{}]',
  'null',
  'true',
  '0',
  '"{}"',
  '{}{}',
  '{}\n{}',
  '{},',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '{"a":NaN}',
  '{"a":01}',
  '{"a":.5}',
  '{"a":+1}',
  '{"a":0x10}',
  '/* */{}',
  '{}//',
  '{"a":"\t"}',
  ' ',
  '\n',
  '\u00a0{}',
  'currency=USDT',
];

test('D2: every trap of JSON is 400 on every call', async () => {
  for (const operation of withBody()) for (const body of TRAPS) await expectInvalid(operation, body);
});

test('D4: nesting is counted to 32 and refused beyond, without a crash at 100,000', async () => {
  for (const operation of withBody()) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (depth: number) => `{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;
      const deep = await sendBody(operation, nested(33));
      expect(deep.text).toContain('nested deeper than 32 levels');
      expect((await sendBody(operation, nested(32))).text).not.toContain('nested deeper');
      await expectInvalid(operation, nested(5_000));
      await expectInvalid(operation, `{"a":${open.repeat(100_000)}`);
    }
    await expectInvalid(operation, '['.repeat(100_000));
    await expectInvalid(operation, `${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  }
});

const POISON = /"(?:__proto__|constructor)"/;
const prototypeKeys = () => [Object.prototype, Array.prototype, Function.prototype].map(Reflect.ownKeys);
test("D5, fault 30: no key of a body reaches the process's prototypes, and poisoning ones are 400", async () => {
  const before = prototypeKeys();
  const inner = (vector: string) => vector.slice(1, -1);
  for (const operation of withBody()) {
    const sample = JSON.stringify(sampleOf(api, operation.body));
    const first = sample === '{}' ? '' : `${inner(sample)},`;
    for (const vector of pollutingObjects()) {
      const item = sample.includes('[{') ? [sample.replace('[{', `[{${inner(vector)},`)] : [];
      for (const body of [vector, `{${first}${inner(vector)}}`, `{${first}"metadata":${vector}}`, ...item]) {
        // In metadata a key may have any name but those that reach a prototype.
        if (takesMetadata(api, operation) && !POISON.test(body))
          expect((await sendBody(operation, body)).status).toBeLessThan(500);
        else await expectInvalid(operation, body);
      }
    }
    expect(prototypeKeys()).toEqual(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
  const after = await sendBody(create(), textOf(Buffer.from('as before')));
  expect(after.json).toMatchObject({ status: 'draft', description: 'as before' });
}, 180_000);

test('C3: an unknown field is 400 with its path, at every level of every body', async () => {
  for (const operation of withBody()) {
    const sample = sampleOf(api, operation.body, 'all');
    const objects = fieldsOf(api, operation.body)
      .map(({ steps }) => steps.slice(0, -1))
      .filter((steps, at, all) => all.findIndex((other) => paramOf(other) === paramOf(steps)) === at);
    for (const steps of [[], ...objects]) {
      for (const name of [
        'nothing',
        'status',
        'id',
        'merchant_id',
        'store_id',
        'Currency',
        'toString',
        'a.b',
        '',
      ]) {
        const place = [...steps, name];
        const known = fieldsOf(api, operation.body).some((field) => paramOf(field.steps) === paramOf(place));
        if (known) continue;
        await expectInvalid(operation, jsonWith(sample, place, '"x"'), invalid);
      }
      const place = [...steps, 'nothing'];
      const answer = await sendBody(operation, jsonWith(sample, place, '1'));
      expect(answer.text).toContain(paramOf(place));
    }
  }
});

test('null is 400 in every field of every request', async () => {
  for (const operation of withBody()) {
    const sample = sampleOf(api, operation.body, 'all');
    for (const { steps, schema } of fieldsOf(api, operation.body)) {
      if (schema.anyOf?.some(({ type }) => type === 'null')) continue;
      await expectInvalid(operation, jsonWith(sample, steps, 'null'), { ...invalid, param: paramOf(steps) });
    }
  }
});

test('a missing field is 400 parameter_missing with its path', async () => {
  for (const operation of withBody()) {
    const sample = sampleOf(api, operation.body, 'all');
    for (const { steps, required } of fieldsOf(api, operation.body)) {
      if (!required) continue;
      const missing = { code: 'parameter_missing', param: paramOf(steps) };
      await expectInvalid(operation, jsonWith(sample, steps, undefined), missing);
    }
  }
});

/** JSON texts that are not of a type. */
const WRONG: Record<string, string[]> = {
  string: ['1', 'true', '{}', '[]', '["text"]', '1.00'],
  integer: [
    '"1"',
    '1.5',
    '1.0',
    '1e1',
    'true',
    '{}',
    '[1]',
    '9007199254740992',
    '-9007199254740993',
    '1e400',
    '""',
  ],
  boolean: ['"true"', '1', '0', '{}', '[]', '""'],
  array: ['{}', '"[]"', '1', '{"0":{}}', '{"length":1}', 'true'],
  object: ['[]', '""', '1', '[{}]', 'true'],
};

test('D3: a value of another type is 400 with its path: nothing is coerced', async () => {
  for (const operation of withBody()) {
    const sample = sampleOf(api, operation.body, 'all');
    for (const { steps, schema } of fieldsOf(api, operation.body)) {
      const type = schema.type ?? (schema.enum === undefined ? undefined : 'string');
      for (const raw of WRONG[type ?? ''] ?? []) {
        await expectInvalid(operation, jsonWith(sample, steps, raw), { ...invalid, param: paramOf(steps) });
      }
    }
  }
});

test('D3: a number beside its bounds, a text beside its length, a value beside its list are 400', async () => {
  let seen = 0;
  for (const operation of withBody()) {
    const sample = sampleOf(api, operation.body, 'all');
    for (const { steps, schema } of fieldsOf(api, operation.body)) {
      const beside = [
        ...(schema.minimum === undefined ? [] : [String(schema.minimum - 1)]),
        ...(schema.maximum === undefined ? [] : [String(schema.maximum + 1)]),
        ...(schema.minLength === undefined ? [] : [JSON.stringify('x'.repeat(schema.minLength - 1))]),
        ...(schema.maxLength === undefined ? [] : [JSON.stringify('💸'.repeat(schema.maxLength + 1))]),
        ...(schema.enum === undefined ? [] : ['"nothing"', JSON.stringify(`${String(schema.enum[0])} `)]),
      ];
      seen += beside.length;
      for (const raw of beside) {
        await expectInvalid(operation, jsonWith(sample, steps, raw), { ...invalid, param: paramOf(steps) });
      }
    }
  }
  expect(seen).toBeGreaterThan(10);
});

/** A text of any length in its form: above every limit of a batch where it is longer than a sum of money. */
const ANY_LENGTH = ['createPayoutBatch items[0].amount', 'updatePayoutItem amount'];

test('every text of a body has a greatest length: it is sent again in answers, lists and events', () => {
  const hasEnd = ({ maxLength, pattern = '.*' }: Schema) => maxLength !== undefined || !/[*+]/.test(pattern);
  const endless = withBody().flatMap(({ operationId, body }) =>
    fieldsOf(api, body)
      .filter(({ schema }) => schema.type === 'string' && schema.enum === undefined && !hasEnd(schema))
      .map(({ steps }) => `${operationId} ${paramOf(steps)}`),
  );
  expect(endless).toEqual(ANY_LENGTH);
});

test('lengths count code points: an item with 128 in its memo and 256 in its address is taken', async () => {
  const memo = '💸'.repeat(128);
  const address = '💸'.repeat(256);
  const item = { network: 'erc20', address, memo, amount: '1.00' };
  const body = JSON.stringify({ currency: 'USDT', items: [item] });
  const created = await sendBody(create(), body);
  expect(created.json).toMatchObject({ status: 'draft', invalid_count: 1 });
  // A person sees one sign, the specification counts the points that it is made of.
  const family = '👨‍👩‍👧‍👦'.repeat(20);
  await expectInvalid(create(), JSON.stringify({ currency: 'USDT', items: [{ ...item, memo: family }] }));
});

test('D4: 1 to 200 items, none has a code of its own', async () => {
  const of = (count: number) => {
    const item = { network: 'erc20', address: randomUUID(), amount: '1.00' };
    return JSON.stringify({ currency: 'USDT', items: Array<typeof item>(count).fill(item) });
  };
  expect((await sendBody(create(), of(200))).json).toMatchObject({ total_count: 200 });
  await expectInvalid(create(), of(201));
  await expectInvalid(create(), of(5_000));
  const none = await sendBody(create(), of(0));
  expectError(none, create().path, { status: 400, code: 'batch_empty_items' });
});

test('an empty body is {} where nothing is required, and misses parameters elsewhere', async () => {
  for (const operation of withBody()) {
    const { url, options } = callOf(service.baseUrl, api, operation);
    const { body: _, ...bare } = options;
    const answer = await send(url, merchant, { ...bare });
    const requires = (sampleOf(api, operation.body) as object | undefined) ?? {};
    if (Object.keys(requires).length > 0) {
      const code = isPayoutPath(operation.path) ? 'invalid_request' : 'parameter_missing';
      expectError(answer, operation.path, { status: 400, code });
    } else {
      const named = await send(url, merchant, { ...bare, body: '{}' });
      expect([operation.operationId, answer.status]).toEqual([operation.operationId, named.status]);
    }
  }
});

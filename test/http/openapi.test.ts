import { randomUUID } from 'node:crypto';
import { PayoutBatchInput } from '@florin/contract/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiRoutes } from '../../packages/server/src/app.ts';
import { compileShape, defineRoute } from '../../packages/server/src/platform/http/index.ts';
import { jsonDocuments, pollutingObjects } from '../own-cases/json.ts';
import { amountTexts, naughtyTexts } from '../own-cases/text.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { expectError } from './expect-error.ts';
import { serveWith } from './http-server.ts';
import { type Api, callOf, fieldsOf, jsonWith, loadApi, type Schema, sampleOf } from './operations.ts';

const BATCHES = '/api/v1/payout-batches';
/** Of texts: around every limit of the schemas, and between them. */
const LENGTHS = [
  0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100, 101, 127, 128, 129, 199, 200, 201, 255, 256, 257,
];

let service: TestService;
let merchant: TestMerchant;
let api: Api;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
  api = await loadApi(service.baseUrl);
});
afterAll(() => service.stop());

/** What OpenAPI 3.1 asks of the parts of a document that this service writes (sections 4.8.1 to 4.8.30). */
const text = { type: 'string', minLength: 1 };
const media = {
  type: 'object',
  required: ['application/json'],
  properties: {
    'application/json': {
      type: 'object',
      required: ['schema'],
      properties: { schema: { type: 'object' }, example: {} },
    },
  },
  additionalProperties: false,
};
const stream = {
  type: 'object',
  required: ['text/event-stream'],
  properties: {
    'text/event-stream': {
      type: 'object',
      required: ['schema'],
      properties: { schema: { properties: { type: { const: 'string' } } } },
    },
  },
  additionalProperties: false,
};
/** A list: a page as JSON, all of it as CSV. */
const list = {
  type: 'object',
  required: ['application/json', 'text/csv'],
  properties: {
    ...media.properties,
    'text/csv': {
      type: 'object',
      required: ['schema'],
      properties: { schema: { type: 'object' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
const parameter = {
  type: 'object',
  required: ['name', 'in', 'schema', 'required'],
  properties: {
    name: text,
    in: { enum: ['path', 'query', 'header'] },
    required: { type: 'boolean' },
    description: text,
    schema: { type: 'object' },
    example: {},
    style: { const: 'form' },
    explode: { type: 'boolean' },
  },
  anyOf: [
    { properties: { in: { const: 'path' }, required: { const: true } } },
    { properties: { in: { enum: ['query', 'header'] } } },
  ],
  not: {
    properties: { in: { const: 'header' }, name: { enum: ['Accept', 'Content-Type', 'Authorization'] } },
  },
  additionalProperties: false,
};
const operation = {
  type: 'object',
  required: ['operationId', 'tags', 'summary', 'parameters', 'responses', 'x-codeSamples'],
  properties: {
    operationId: { type: 'string', pattern: '^[a-z][A-Za-z]+$' },
    tags: { type: 'array', items: text, minItems: 1 },
    summary: text,
    description: text,
    parameters: { type: 'array', items: parameter },
    requestBody: {
      type: 'object',
      required: ['content', 'required'],
      properties: { content: media, required: { type: 'boolean' }, description: text },
      additionalProperties: false,
    },
    responses: {
      type: 'object',
      required: ['200', '400', '401', '403', '429', '500', '503'],
      patternProperties: {
        '^[1-5][0-9]{2}$': {
          type: 'object',
          required: ['description', 'content'],
          properties: {
            description: text,
            content: { anyOf: [media, stream, list] },
            headers: { type: 'object' },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    'x-codeSamples': {
      type: 'array',
      items: {
        type: 'object',
        required: ['lang', 'label', 'source'],
        properties: { lang: text, label: text, source: text },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};
const DOCUMENT = {
  type: 'object',
  required: ['openapi', 'info', 'servers', 'security', 'paths', 'components'],
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      properties: {
        title: text,
        version: { const: '2026-04-20' },
        summary: text,
        description: text,
        license: {
          type: 'object',
          required: ['name'],
          properties: { name: text, identifier: text },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    servers: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['url'], properties: { url: text, description: text } },
    },
    security: { const: [{ apiKey: [] }] },
    tags: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: text } } },
    paths: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^/api/v1(/[a-z_-]+|/\\{[a-z_]+\\})+$' },
      additionalProperties: {
        type: 'object',
        minProperties: 1,
        patternProperties: { '^(get|put|post|delete)$': operation },
        additionalProperties: false,
      },
    },
    components: {
      type: 'object',
      required: ['schemas', 'securitySchemes'],
      properties: {
        securitySchemes: {
          type: 'object',
          required: ['apiKey'],
          properties: {
            apiKey: {
              type: 'object',
              required: ['type', 'scheme'],
              properties: { type: { const: 'http' }, scheme: { const: 'bearer' }, description: text },
            },
          },
        },
        schemas: { type: 'object', minProperties: 1, propertyNames: { pattern: '^[A-Z][A-Za-z]+$' } },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

test('the document has the structure of OpenAPI 3.1', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const fits = ajv.compile(DOCUMENT);
  expect(fits(api.document), JSON.stringify(fits.errors, undefined, 1)).toBe(true);
});

test('every component is a schema of JSON Schema 2020-12, in strict mode', () => {
  const { components } = api;
  expect(Object.keys(components).length).toBeGreaterThan(10);
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, allErrors: true });
  ajv.addKeyword('components');
  // An annotation: what is checked are type and minimum.
  ajv.addFormat('unix-time', { type: 'number', validate: () => true });
  for (const [name, schema] of Object.entries(components)) {
    expect([name, ajv.validateSchema(schema), ajv.errors]).toEqual([name, true, null]);
  }
  const whole = JSON.parse(JSON.stringify(components).replaceAll('"#/components', '"openapi#/components'));
  ajv.addSchema({ $id: 'openapi', components: { schemas: whole } });
  for (const name of Object.keys(whole)) {
    expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).not.toThrow();
  }
});

/** Every `$ref` of a document. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner),
  );
}

test('every reference leads to a component, and every component is referred to', () => {
  const refs = new Set(refsOf(api.document));
  const components = Object.keys(api.components).map((name) => `#/components/schemas/${name}`);
  expect([...refs].filter((ref) => !components.includes(ref))).toEqual([]);
  expect(components.filter((component) => !refs.has(component))).toEqual([]);
});

test('every route is there once, with its parameters, key, body and errors of its family', () => {
  const routes = apiRoutes(service.app);
  const documented = api.operations.map(({ method, path }) => `${method} ${path}`).sort();
  expect(documented).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  const ids = api.operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { method, path, parameters, body, operationId, needsKey } of api.operations) {
    const route = routes.find((one) => one.operationId === operationId);
    expect({ method, needsKey, hasBody: body !== undefined }).toEqual({
      method: route?.method,
      needsKey: route?.idempotencyKey === 'required',
      hasBody: route?.body !== undefined,
    });
    const names = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name);
    expect(names('path')).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(names('query')).toEqual(Object.keys(route?.query?.properties ?? {}));
    expect(names('header')).toEqual(
      expect.arrayContaining(['X-Service-Timestamp', 'X-Service-Nonce', 'X-Service-Signature']),
    );
  }
});

test('errors are documented in the format of their family', () => {
  type Responses = Record<string, { content: { 'application/json': { schema: Schema } } }>;
  const paths = api.document.paths as Record<string, Record<string, { responses: Responses }>>;
  for (const [path, methods] of Object.entries(paths)) {
    const family = path.startsWith(BATCHES) ? 'PayoutError' : 'StructuredError';
    for (const { responses } of Object.values(methods)) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (status === '200') continue;
        expect(content['application/json'].schema).toEqual({ $ref: `#/components/schemas/${family}` });
      }
    }
  }
});

test('what a call without a path to follow answers fits what is documented for it', async () => {
  type Answers = Record<string, { content: Record<string, { schema: Schema }> }>;
  const paths = api.document.paths as Record<string, Record<string, { responses: Answers }>>;
  const statuses = new Set<number>();
  for (const one of api.operations) {
    const { url, options } = callOf(service.baseUrl, api, one);
    const answer = await send(url, merchant, options);
    const documented = paths[one.path]?.[one.method.toLowerCase()]?.responses[String(answer.status)];
    expect([one.operationId, answer.status, documented !== undefined]).toEqual([
      one.operationId,
      answer.status,
      true,
    ]);
    statuses.add(answer.status);
    const [type = '', media] = Object.entries(documented?.content ?? {})[0] ?? [];
    expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    if (type !== 'application/json') continue;
    const fits = api.compile(media?.schema ?? {});
    expect([one.operationId, fits(answer.json), fits.errors]).toEqual([one.operationId, true, null]);
  }
  expect(statuses).toContain(200);
  expect(statuses).toContain(404);
});

/** Whether both checkers of the same schema say the same. */
function verdicts(): (value: unknown) => [typebox: boolean, ajv: boolean] {
  const typebox = compileShape(PayoutBatchInput);
  const ajv = api.compile({ $ref: '#/components/schemas/PayoutBatchInput' });
  const typeboxTakes = (value: unknown) => {
    try {
      typebox(value);
      return true;
    } catch {
      return false;
    }
  };
  return (value) => [typeboxTakes(value), ajv(value)];
}

test('TypeBox and Ajv agree on the body of a batch: files, texts, amounts and keys of every kind', () => {
  const judge = verdicts();
  const sample = sampleOf(api, { $ref: '#/components/schemas/PayoutBatchInput' }, 'all');
  const fields = fieldsOf(api, { $ref: '#/components/schemas/PayoutBatchInput' });
  const values = [
    ...jsonDocuments().map(({ bytes }) => bytes.toString()),
    ...naughtyTexts().map((one) => JSON.stringify(one)),
    ...amountTexts().flatMap((one) => [one, JSON.stringify(one)]),
    ...pollutingObjects(),
    ...LENGTHS.flatMap((length) =>
      ['x', '💸', 'e\u0301', '👨‍👩‍👧'].map((one) => JSON.stringify(one.repeat(length))),
    ),
    ...[0, 1, 200, 201].map(
      (count) => `[${Array<string>(count).fill('{"network":"erc20","address":"a","amount":"1"}').join(',')}]`,
    ),
  ];
  const seen = { taken: 0, refused: 0 };
  for (const raw of values) {
    for (const steps of [
      [],
      ...fields.map((field) => field.steps),
      ['items', 0],
      ['nothing'],
      ['items', 0, 'nothing'],
    ]) {
      const value = parsed(jsonWith(sample, steps, raw));
      if (value === undefined) continue;
      const [typebox, ajv] = judge(value);
      expect({ raw, steps, typebox }).toEqual({ raw, steps, typebox: ajv });
      if (ajv) seen.taken++;
      else seen.refused++;
    }
  }
  expect(seen.taken).toBeGreaterThan(500);
  expect(seen.refused).toBeGreaterThan(500);
}, 120_000);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

test('an answer that breaks its schema is caught: 500 in the format of its path, not the fault of the caller', async () => {
  const [balances, create] = ['retrieveBalances', 'createPayoutBatch'].map((id) => {
    const route = apiRoutes(service.app).find(({ operationId }) => operationId === id);
    if (route === undefined) throw new Error(`there is no route ${id}`);
    return route;
  });
  const wrong = async () => ({ body: { object: 'balances', data: [{ currency: 'USDT', surplus: 1 }] } });
  const server = await serveWith(service, {
    routes: [balances, create].flatMap((route) =>
      route === undefined ? [] : [defineRoute({ ...route, handle: wrong })],
    ),
  });
  try {
    const read = await send(`${server.baseUrl}/api/v1/balances`, merchant);
    expectError(read, '/api/v1/balances', { status: 500, code: 'internal_error' });
    const { options } = callOf(
      server.baseUrl,
      api,
      api.operations.find(({ operationId }) => operationId === 'createPayoutBatch') as Api['operations'][0],
    );
    const created = await send(`${server.baseUrl}${BATCHES}`, merchant, { ...options, nonce: randomUUID() });
    expectError(created, BATCHES, { status: 500, code: 'payout_error' });
  } finally {
    await server.close();
  }
});

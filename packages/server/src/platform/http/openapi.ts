import type { TSchema } from 'typebox';
import type { FailCode } from '../fail.ts';
import { type ErrorFormat, formatOf, statusOf } from './error-body.ts';
import { EVENT_STREAM } from './event-stream.ts';
import type { Route } from './route.ts';

type Json = { [key: string]: unknown };

/** What every signed call may refuse. */
const ALWAYS: readonly FailCode[] = [
  'invalid_request',
  'authentication_required',
  'forbidden',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];
const WITH_BODY: readonly FailCode[] = ['request_timeout', 'body_too_large', 'unsupported_media_type'];

const SIGNED_HEADERS: readonly Json[] = [
  headerParameter('X-Service-Timestamp', 'Unix seconds, at most 300 s off.', { pattern: '^[0-9]{1,12}$' }),
  headerParameter('X-Service-Nonce', '16 to 64 visible ASCII characters, used once.', {
    minLength: 16,
    maxLength: 64,
    pattern: '^[!-~]+$',
  }),
  headerParameter(
    'X-Service-Signature',
    'Lower-case hex HMAC-SHA256 of `<timestamp>.<nonce>.<raw body>` with the secret key.',
    { pattern: '^[0-9a-f]{64}$' },
  ),
];
const KEY_HEADER = headerParameter(
  'Idempotency-Key',
  '1 to 128 printable ASCII characters. Repeating a request with it is safe.',
  { minLength: 1, maxLength: 128, pattern: '^[ -~]+$' },
);
const versionHeader = (version: string): Json => ({
  name: 'X-Service-Version',
  in: 'header',
  required: false,
  description: 'The version of the API that the caller was written for; an unknown one is refused.',
  schema: { type: 'string', enum: [version] },
});
const LAST_EVENT_HEADER = {
  ...headerParameter('Last-Event-ID', 'Goes on after this event; stands above the query.', {
    minLength: 1,
    maxLength: 64,
  }),
  required: false,
};

function headerParameter(name: string, description: string, limits: Json): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...limits } };
}

/** Replaces every schema that has an `$id` by a reference and puts it among the components. */
function reference(schema: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => reference(entry, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id: id, ...rest }: Json = { ...schema };
  const inner = () =>
    Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, reference(value, components)]));
  if (typeof id !== 'string') return inner();
  if (!components.has(id)) {
    components.set(id, {});
    components.set(id, inner());
  }
  return { $ref: `#/components/schemas/${id}` };
}

export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** A request of an operation, its answer, and the request as code. */
export interface OperationExample {
  /** Values of parameters by name: all of the path, and those of the query that the request has. */
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: object | undefined;
  answer: unknown;
  samples: readonly CodeSample[];
  /** Follows the description. */
  note: string | undefined;
}

function parametersOf(
  route: Route,
  components: Map<string, Json>,
  { version, ofPeople }: Pick<OpenApiOptions, 'version' | 'ofPeople'>,
  example: OperationExample,
): Json[] {
  const from = (place: 'path' | 'query', schema: TSchema | undefined) => {
    const shape: { properties?: Record<string, Json>; required?: string[] } = schema ?? {};
    return Object.entries(shape.properties ?? {}).map(([name, property]) => ({
      name,
      in: place,
      required: place === 'path' || (shape.required?.includes(name) ?? false),
      ...(typeof property.description === 'string' ? { description: property.description } : {}),
      ...(example[place][name] === undefined ? {} : { example: example[place][name] }),
      schema: reference(property, components),
    }));
  };
  const key =
    route.idempotencyKey === undefined
      ? []
      : [{ ...KEY_HEADER, required: route.idempotencyKey === 'required' }];
  const last = route.answer === EVENT_STREAM ? [LAST_EVENT_HEADER] : [];
  const csrf = route.method === 'GET' || route.permission === undefined ? [] : [CSRF_HEADER];
  if (ofPeople) return [...csrf, ...from('path', route.params), ...from('query', route.query)];
  const headers = [...SIGNED_HEADERS, versionHeader(version), ...key, ...last];
  return [...headers, ...from('path', route.params), ...from('query', route.query)];
}

const demandsFields = (schema: object): boolean =>
  'required' in schema && Array.isArray(schema.required) && schema.required.length > 0;

/** Whether a field has to be there, at any depth. */
function hasRequired(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return demandsFields(schema) || Object.values(schema).some(hasRequired);
}

function codesOf(route: Route): readonly FailCode[] {
  const missing = route.idempotencyKey === 'required' || hasRequired(route.body) || hasRequired(route.query);
  return [
    ...ALWAYS,
    ...(missing ? (['parameter_missing'] as const) : []),
    ...(route.body === undefined ? [] : WITH_BODY),
    ...route.refusals,
  ];
}

function refusalsOf(route: Route, components: Map<string, Json>, options: OpenApiOptions): Json {
  const format = formatOf(route.path, options.errorFormats);
  const schema = reference(format.schema, components);
  const byStatus = new Map<number, Set<string>>();
  for (const code of codesOf(route)) {
    const status = statusOf(code);
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(format.codeOf(code)));
  }
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, names]) => [
      String(status),
      {
        description: [...names]
          .map((name) => `[${name}](${options.serverUrl}/docs/errors/${name})`)
          .join(', '),
        content: { 'application/json': { schema } },
      },
    ]),
  );
}

const API_KEY = { type: 'http', scheme: 'bearer', description: 'The API key; the secret key only signs.' };
const SESSION = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-florin_session',
  description: 'The session of a browser.',
};
const CSRF_HEADER = headerParameter(
  'X-CSRF-Token',
  'The `csrf_token` of `GET /console/api/me`, where there is a session.',
  {},
);

const CSV: Json = {
  schema: {
    type: 'string',
    description:
      'With `Accept: text/csv`: everything that fits the filter, a line for each item, times in UTC. The last line is `# n rows`; a file without it was cut off.',
  },
};

function answersOf(route: Route, components: Map<string, Json>, example: unknown): Json {
  const type = route.answer === EVENT_STREAM ? 'text/event-stream' : 'application/json';
  return {
    [type]: { schema: reference(route.answer, components), example },
    ...(route.list === undefined ? {} : { 'text/csv': CSV }),
  };
}

function operationOf(route: Route, components: Map<string, Json>, options: OpenApiOptions): Json {
  const example = options.exampleOf(route);
  const description = [route.description, example.note].filter((text) => text !== undefined).join(' ');
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    parameters: parametersOf(route, components, options, example),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: demandsFields(route.body),
            content: {
              'application/json': { schema: reference(route.body, components), example: example.body ?? {} },
            },
          },
        }),
    responses: {
      200: {
        description: 'Done.',
        content: answersOf(route, components, example.answer),
      },
      ...refusalsOf(route, components, options),
    },
    'x-codeSamples': example.samples,
  };
}

export interface OpenApiOptions {
  title: string;
  version: string;
  description: string;
  serverUrl: string;
  errorFormats: readonly ErrorFormat[];
  exampleOf: (route: Route) => OperationExample;
  /** Its callers are people with a session instead of keys. */
  ofPeople?: boolean;
}

/** The OpenAPI 3.1 document, made from the route table: what is documented is what is served. */
export function openApiDocument(routes: readonly Route[], options: OpenApiOptions): Json {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, components, options),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl }],
    security: options.ofPeople ? [{ session: [] }] : [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: options.ofPeople ? { session: SESSION } : { apiKey: API_KEY },
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
    },
  };
}

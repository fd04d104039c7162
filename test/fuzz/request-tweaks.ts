import fc from 'fast-check';
import { NAUGHTY_TEXTS, STRANGE_QUERIES, STRANGE_SEGMENTS } from './bad-input.ts';
import type { Tweak } from './body-tweaks.ts';
import type { Contract, Operation, Parameter } from './document.ts';
import { draftOf, encoded, type Header, pathOf, queryOf } from './draft.ts';

const oneOf = <T>(values: readonly T[], tweak: (value: T) => Tweak): fc.Arbitrary<Tweak> =>
  fc.constantFrom(...values).map(tweak);

const strangeQuery = oneOf(STRANGE_QUERIES, (query) => (parts) => {
  const whole = [queryOf(parts.query), query].filter((part) => part !== '').join('&');
  return draftOf(parts, { tweak: `query ${query}`, query: whole, expected: [400] });
});

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

/** What the document says of a parameter's text (design: API, section 1, Bodies: integers are plain digits). */
function textFits(contract: Contract, { schema }: Parameter, text: string): boolean {
  if (text === '' || text.includes('\0')) return false;
  if (schema.type !== 'integer') return contract.fits(schema)(text);
  return WHOLE.test(text) && contract.fits(schema)(Number(text));
}

/** Another text in a declared parameter, or the parameter twice. */
function parameterTweaks(contract: Contract, operation: Operation): fc.Arbitrary<Tweak> {
  const declared = operation.parameters.filter((parameter) => parameter.in === 'query');
  if (declared.length === 0) return strangeQuery;
  const changed = fc.tuple(fc.constantFrom(...declared), fc.constantFrom(...NAUGHTY_TEXTS)).map(
    ([parameter, text]): Tweak =>
      (parts) => {
        const pairs = [
          ...parts.query.filter(([name]) => name !== parameter.name),
          [parameter.name, text] as const,
        ];
        const fits = textFits(contract, parameter, text.toWellFormed());
        const query = queryOf(pairs);
        return draftOf(parts, { tweak: `${parameter.name}=${text}`, query, expected: fits ? 'fits' : [400] });
      },
  );
  const twice = oneOf(declared, ({ name, schema }) => (parts) => {
    const [first] = schema.enum ?? [];
    const value = schema.type === 'integer' ? '5' : typeof first === 'string' ? first : 'a';
    return draftOf(parts, {
      tweak: `${name} twice`,
      query: `${name}=${value}&${name}=${value}`,
      expected: [400],
    });
  });
  return fc.oneof(changed, twice, strangeQuery);
}

/** Ids of nobody, of other kinds and of other merchants in one place of the path. */
function idTweaks(operation: Operation): fc.Arbitrary<Tweak> {
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const kinds = ['batch_id', 'item_id', 'event_id', 'store_id', 'endpoint_id', 'delivery_id'];
  const foreign = kinds.map((kind) => `{{foreign_${kind}:0}}`);
  const strange = [...STRANGE_SEGMENTS, ...NAUGHTY_TEXTS.filter((text) => text !== '').map(encoded)];
  return fc
    .tuple(fc.constantFrom(...names), fc.nat({ max: 3 }), fc.constantFrom(...strange), fc.nat({ max: 3 }))
    .map(
      ([name, kind, segment, choice]): Tweak =>
        (parts) => {
          const others = kinds.filter((one) => one !== name);
          const own = `{{${others[kind % others.length]}:0}}`;
          const id = [foreign[kind] ?? '', own, segment, segment][choice] ?? segment;
          const path = pathOf({ ...parts, ids: { ...parts.ids, [name]: id } });
          return draftOf(parts, {
            tweak: `${name} ${id.slice(0, 40)}`,
            path,
            // Fields that are refused together are judged with the shape of the body, before what the path names.
            expected: parts.operation.id === 'controlSimulatedChain' ? [400, 404] : [404],
            routed: false,
          });
        },
    );
}

const STRANGE_PATHS: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace('/v1/', '/v2/'),
  (path) => path.replace('/v1/', '/v1//'),
  (path) => path.replace('/v1/', '/V1/'),
  (path) => path.replace('/api/', '/'),
  (path) => `${path}x`,
  (path) => `${path}%20`,
  (path) => `${path}/nothing/at/all`,
  (path) => `${path};a=b`,
  (path) => `${path}%00`,
];
const strangePath = oneOf(STRANGE_PATHS, (change) => (parts) => {
  const path = change(pathOf(parts));
  // A longer last segment is another id, or an id where a word stood: of a call that may take no such query or method.
  const expected = parts.operation.path.endsWith('}') ? [404] : [404, 405];
  return draftOf(parts, { tweak: 'strange path', path, query: '', expected, routed: false });
});

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND', 'QUERY'];
function strangeMethod(contract: Contract, operation: Operation): fc.Arbitrary<Tweak> {
  const taken = contract.operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
  const others = METHODS.filter((method) => !taken.includes(method));
  return oneOf(others, (method) => (parts) => {
    return draftOf(parts, {
      tweak: `method ${method}`,
      method,
      body: undefined,
      expected: [405],
      routed: false,
    });
  });
}

const withBody = (name: string, value: string, expected: 'fits' | readonly number[]) => ({
  name,
  value,
  expected,
});
const BODY_HEADERS = [
  ...[
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;charset=utf-16',
    'application/json ;a=b',
  ].map((value) => withBody('Content-Type', value, 'fits')),
  ...[
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/*',
    'multipart/form-data; boundary=x',
    'a',
    '',
  ].map((value) => withBody('Content-Type', value, [415])),
  ...['application/vnd.api+json', 'application/json, text/plain', 'application/x-www-form-urlencoded'].map(
    (value) => withBody('Content-Type', value, [415]),
  ),
  ...['gzip', 'br', 'deflate', 'x', 'gzip, gzip'].map((value) => withBody('Content-Encoding', value, [415])),
];
const bodyHeader = oneOf(BODY_HEADERS, ({ name, value, expected }) => (parts) => {
  const draft = draftOf({ ...parts, value: parts.value ?? {} }, { tweak: `${name}: ${value}`, expected });
  return { ...draft, headers: [...draft.headers.filter(([own]) => own !== name), [name, value]] };
});
const typeTwice = fc.constant<Tweak>((parts) => {
  const headers: Header[] = [
    ['Content-Type', 'application/json'],
    ['content-type', 'application/json'],
  ];
  return draftOf(
    { ...parts, value: parts.value ?? {} },
    { tweak: 'Content-Type twice', headers, expected: [415] },
  );
});

/** Said by browsers, proxies and attackers; none of it means anything here. */
const IGNORED: readonly Header[] = [
  ['Accept', 'text/html;q=0.1, nonsense'],
  ['Accept-Encoding', 'gzip, br, *'],
  ['Accept-Language', '\u00e4'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', '127.0.0.1, ::1, nonsense'],
  ['X-Forwarded-Host', 'evil.example'],
  ['Forwarded', 'for=_hidden;proto=gopher'],
  ['X-Original-URL', '/healthz'],
  ['Cookie', 'a=b; __proto__=x; a=c'],
  ['Range', 'bytes=0-0'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['Origin', 'null'],
  ['Access-Control-Request-Method', 'DELETE'],
  ['X-Request-ID', 'mine-0123456789'],
  ['X-Request-ID', 'short'],
  ['X-Request-ID', `${'x'.repeat(65)}`],
  ['X-Request-ID', 'no spaces, no "quotes"'],
  ['X-Service-Version', '2026-04-20'],
  ['__proto__', 'polluted'],
  ['constructor', 'polluted'],
  ['Connection', 'close'],
  ['traceparent', '00-zz-zz-zz'],
  ['User-Agent', ''],
];
const ignoredHeader = oneOf(IGNORED, (header) => (parts) => {
  return draftOf(parts, { tweak: `header ${header.join(': ')}`, headers: [header] });
});
const REFUSED_HEADERS: readonly (readonly Header[])[] = [
  ...['2026-04-21', '1', '', 'latest', '2026-04-20 x'].map((version): Header[] => [
    ['X-Service-Version', version],
  ]),
  [
    ['X-Service-Version', '2026-04-20'],
    ['X-Service-Version', '2026-04-20'],
  ],
];
const refusedHeader = oneOf(REFUSED_HEADERS, (headers) => (parts) => {
  return draftOf(parts, { tweak: `header ${headers.join(' and ')}`, headers, expected: [400] });
});

const STRANGE_KEYS = ['', '\u00e4', 'a\tb', '\u0080', 'x'.repeat(129)];
const idempotencyKey = fc.oneof(
  oneOf(
    STRANGE_KEYS,
    (key): Tweak =>
      (parts) => {
        const expected = parts.key === undefined ? 'fits' : [400];
        const headers: Header[] = [['Idempotency-Key', key]];
        return draftOf({ ...parts, key: undefined }, { tweak: `Idempotency-Key ${key}`, headers, expected });
      },
  ),
  fc.constant<Tweak>((parts) => {
    const isNeeded = parts.operation.parameters.some((p) => p.name === 'Idempotency-Key' && p.required);
    const expected = isNeeded ? [400] : 'fits';
    return draftOf({ ...parts, key: undefined }, { tweak: 'no Idempotency-Key', expected });
  }),
  fc.constant<Tweak>((parts) => {
    const expected = parts.key === undefined ? 'fits' : [400];
    const headers: Header[] = [['idempotency-key', parts.key ?? 'a']];
    return draftOf(parts, { tweak: 'Idempotency-Key twice', headers, expected });
  }),
);

const strayBody = fc.constant<Tweak>((parts) =>
  draftOf(parts, { tweak: 'a body where none belongs', body: '{}', expected: [400] }),
);
const chunked = fc.constant<Tweak>((parts) => draftOf(parts, { tweak: 'chunked', chunked: true }));

const TAMPERED = {
  'X-Service-Timestamp': ['', '0', '-1', '1e9', '9999999999999', 'now', ' ', '1 2'],
  'X-Service-Nonce': [
    '',
    'short',
    'x'.repeat(15),
    'x'.repeat(65),
    'has a space in here!',
    '\u00e4'.repeat(20),
  ],
  'X-Service-Signature': ['', 'x', '0'.repeat(64), 'A'.repeat(64), '0'.repeat(63), '0'.repeat(65)],
  Authorization: [
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer fl_test_x',
    `Bearer ${'x'.repeat(5_000)}`,
    'Bearer a b',
  ],
};
const tampering = fc.oneof(
  fc
    .constantFrom(
      ...Object.entries(TAMPERED).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
    )
    .map(
      ([name, value]): Tweak =>
        (parts) =>
          draftOf(parts, {
            tweak: `${name}: ${value.slice(0, 40)}`,
            tamper: (headers) => headers.map(([own, was]) => [own, own === name ? value : was]),
            expected: [401],
          }),
    ),
  oneOf(
    Object.keys(TAMPERED),
    (name) => (parts) =>
      draftOf(parts, {
        tweak: `no ${name}`,
        tamper: (headers) => headers.filter(([own]) => own !== name),
        expected: [401],
      }),
  ),
  oneOf(
    Object.keys(TAMPERED),
    (name) => (parts) =>
      draftOf(parts, {
        tweak: `${name} twice`,
        tamper: (headers) => headers.flatMap((header) => (header[0] === name ? [header, header] : [header])),
        expected: [401],
      }),
  ),
);

/** What may be wrong with a request outside of its body. */
export function requestTweaks(contract: Contract, operation: Operation): fc.Arbitrary<Tweak> {
  const hasIds = operation.parameters.some((parameter) => parameter.in === 'path');
  const takesBody = operation.body !== undefined;
  return fc.oneof(
    { weight: 5, arbitrary: parameterTweaks(contract, operation) },
    { weight: 2, arbitrary: strangeMethod(contract, operation) },
    { weight: 3, arbitrary: ignoredHeader },
    { weight: 1, arbitrary: refusedHeader },
    { weight: 1, arbitrary: idempotencyKey },
    { weight: 3, arbitrary: tampering },
    { weight: 1, arbitrary: strangePath },
    ...(hasIds ? [{ weight: 6, arbitrary: idTweaks(operation) }] : []),
    ...(takesBody
      ? [
          { weight: 4, arbitrary: bodyHeader },
          { weight: 1, arbitrary: typeTwice },
          { weight: 1, arbitrary: chunked },
        ]
      : [{ weight: 1, arbitrary: strayBody }]),
  );
}

import type { CodeSample, Route } from '../../platform/http/index.ts';
import type { Example } from './example.ts';
import { PATH_VALUES } from './ids.ts';

/** A request of an example, with everything in its place. */
export interface SampleRequest {
  route: Route;
  example: Example;
  /** With its values and the query. */
  path: string;
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const indent = (depth: number) => '  '.repeat(depth);

/** How a language writes what JSON has. */
interface Notation {
  key: (name: string) => string;
  words: Readonly<Record<'true' | 'false' | 'null', string>>;
}

/** `12345` → `12_345`. By hand, as this module is loaded at the start and the first use of `Intl` takes 7 MB. */
function inGroups(value: bigint): string {
  const digits = String(value);
  const first = digits.length % 3;
  const groups = [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])];
  return groups.filter((group) => group !== '').join('_');
}

const TYPESCRIPT: Notation = {
  key: (name) => name,
  words: { true: 'true', false: 'false', null: 'null' },
};
const PYTHON: Notation = { key: quoted, words: { true: 'True', false: 'False', null: 'None' } };

/** A value as people write it: on one line, or each part on its own. */
function literal(value: unknown, notation: Notation, depth = 0): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${inGroups(value)}n`;
  if (value === null || typeof value === 'boolean') return notation.words[`${value}`];
  if (typeof value !== 'object') return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((one) => literal(one, notation, depth + 1))
    : Object.entries(value).map(
        ([name, one]) => `${notation.key(name)}: ${literal(one, notation, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  const room = Array.isArray(value) ? '' : ' ';
  const line = `${open}${room}${parts.join(', ')}${room}${close}`;
  if (line.length + 2 * depth <= 90 && !line.includes('\n')) return line;
  const lines = parts.map((part) => `${indent(depth + 1)}${part},\n`);
  return `${open}\n${lines.join('')}${indent(depth)}${close}`;
}

const inSdkUnits = ({ body = {}, units = [] }: Example) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, units.includes(name) ? BigInt(value) : value]),
  );

const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

function typescript({ route, example }: SampleRequest): string {
  const place = parametersOf(route.path).map((name) => quoted(PATH_VALUES[name] ?? ''));
  const body = example.body === undefined ? [] : [literal(inSdkUnits(example), TYPESCRIPT)];
  const call = `await florin.${example.sdk}(${[...place, ...body].join(', ')})`;
  const lines =
    example.code ??
    (route.list === undefined
      ? `const answer = ${call};\nconsole.log(answer);`
      : `const { data } = ${call};\nconsole.log(data);`);
  return `import { Florin } from '@florin/sdk';

// FLORIN_BASE_URL, FLORIN_API_KEY, FLORIN_SECRET_KEY
const florin = Florin.fromEnv();
${lines}
`;
}

const isStream = ({ route }: SampleRequest) => route.operationId === 'streamEvents';

function shell(request: SampleRequest): string {
  const { route, example, path } = request;
  const hasBody = example.body !== undefined;
  const body = hasBody ? JSON.stringify(example.body).replaceAll("'", "'\\''") : '';
  const options = [
    ...(isStream(request) ? ['-N --max-time 5'] : []),
    ...(route.method === 'GET' ? [] : [`-X ${route.method}`]),
    `"$FLORIN_BASE_URL${path}"`,
    ...(hasBody ? [`-H 'Content-Type: application/json' --data-binary "$BODY"`] : []),
    ...(route.idempotencyKey === undefined ? [] : ['-H "Idempotency-Key: $(openssl rand -hex 16)"']),
    '-H "Authorization: Bearer $FLORIN_API_KEY"',
    '-H "X-Service-Timestamp: $TIMESTAMP" -H "X-Service-Nonce: $NONCE"',
    '-H "X-Service-Signature: $SIGNATURE"',
  ];
  return `BODY='${body}'
TIMESTAMP=$(date +%s)
NONCE=$(openssl rand -hex 16)
SIGNATURE=$(printf '%s.%s.%s' "$TIMESTAMP" "$NONCE" "$BODY" |
  openssl dgst -sha256 -hmac "$FLORIN_SECRET_KEY" -r | cut -d' ' -f1)
curl -sS ${options.join(' \\\n  ')}${isStream(request) ? ' | head -n 3' : ''}
`;
}

function pythonProgram(request: SampleRequest): string {
  const { route, example, path } = request;
  const hasBody = example.body !== undefined;
  const headers = [
    `'Authorization': 'Bearer ' + os.environ['FLORIN_API_KEY'],`,
    `'X-Service-Timestamp': timestamp,`,
    `'X-Service-Nonce': nonce,`,
    `'X-Service-Signature': signature,`,
    ...(hasBody ? [`'Content-Type': 'application/json',`] : []),
    ...(route.idempotencyKey === undefined ? [] : [`'Idempotency-Key': str(uuid.uuid4()),`]),
  ];
  const read = isStream(request)
    ? `    for line in answer:
        print(line.decode().rstrip())
        if line == b'\\n':
            break`
    : '    print(json.dumps(json.load(answer), indent=2))';
  return `import hashlib, hmac, json, os, time, urllib.request, uuid

body = ${hasBody ? `json.dumps(${literal(example.body, PYTHON)}).encode()` : "b''"}
timestamp, nonce = str(int(time.time())), str(uuid.uuid4())
signature = hmac.new(
    os.environ['FLORIN_SECRET_KEY'].encode(),
    f'{timestamp}.{nonce}.'.encode() + body,
    hashlib.sha256,
).hexdigest()
request = urllib.request.Request(
    os.environ['FLORIN_BASE_URL'] + ${quoted(path)},
    method='${route.method}',
    data=${hasBody ? 'body' : 'None'},
    headers={
${headers.map((line) => `        ${line}\n`).join('')}    },
)
with urllib.request.urlopen(request) as answer:
${read}
`;
}

/** The same request as code. Settings come from the variables that `Florin.fromEnv` reads. */
export function codeSamples(request: SampleRequest): CodeSample[] {
  return [
    { lang: 'shell', label: 'curl', source: shell(request) },
    { lang: 'typescript', label: 'TypeScript SDK', source: typescript(request) },
    { lang: 'python', label: 'Python', source: pythonProgram(request) },
  ];
}

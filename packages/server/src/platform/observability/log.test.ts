import { expect, test } from 'vitest';
import { createRedactor, redact } from '../secrets/redact.ts';
import { createLogger, withLogFields } from './log.ts';

function capture(secrets: string[] = []) {
  const lines: string[] = [];
  const log = createLogger('debug', { secrets, write: (line) => void lines.push(line) });
  return { log, lines, text: () => lines.join('') };
}

const PASSWORD = 'p4ss/w0rd+of=mine';
const URL_WITH_PASSWORD = `postgres://florin:${encodeURIComponent(PASSWORD)}@db.example:5432/florin`;

test('an error is logged with class, code, message, frames and causes, and without the fields a driver adds', () => {
  const { log, lines } = capture();
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), {
    code: '23505',
    detail: 'Key (secret)=(planted-1) already exists.',
    parameters: ['planted-2'],
    client: { connectionParameters: { password: 'planted-3' } },
    input: URL_WITH_PASSWORD,
  });
  log.error({ err: error }, 'it failed');
  const [line = ''] = lines;
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    msg: 'it failed',
    err: { type: 'TypeError', code: '23505', message: 'outer', cause: { message: 'inner' } },
  });
  expect(line).toMatch(/log\.test\.ts/);
  expect(line).not.toMatch(/planted|p4ss/);
});

test('a message that quotes the refused value is logged without it', () => {
  const { log, text } = capture();
  const error = Object.assign(new Error('invalid input syntax for type uuid: "planted"'), { code: '22P02' });
  log.error({ err: error }, 'it failed');
  expect(text()).toContain('invalid input syntax for type uuid');
  expect(text()).not.toContain('planted');
});

test('every line carries the fields of the work that it belongs to', async () => {
  const { log, lines } = capture();
  await Promise.all(
    ['req_1', 'req_2'].map((id) =>
      withLogFields({ request_id: id }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        withLogFields({ job: 'a' }, () => log.info({ of: id }, 'in a job'));
      }),
    ),
  );
  log.info('outside');
  const read = lines.map((line) => JSON.parse(line));
  expect(read.map(({ request_id, of, job }) => [request_id === of, job])).toEqual([
    [true, 'a'],
    [true, 'a'],
    [true, undefined],
  ]);
});

const SECRETS: [what: string, text: string, secret: string][] = [
  ['an API key', 'key fl_live_7Yx3bq9ZtRkWmN4pQsVfHgJc2 is gone', '7Yx3bq9ZtRkWmN4pQsVfHgJc2'],
  ['a secret key', 'fls_test_7Yx3bq9ZtRkWmN4pQsVfHgJc2', '7Yx3bq9Z'],
  ["an approver's token", 'x=fla_7Yx3bq9ZtRkWmN4pQsVfHgJc2', '7Yx3bq9Z'],
  ['a bearer token', 'Authorization: Bearer abc.def.ghi', 'abc.def'],
  ['basic credentials', 'Basic dXNlcjpwYXNz and so on', 'dXNlcjpwYXNz'],
  ['an address with a password', `connect ${URL_WITH_PASSWORD} failed`, encodeURIComponent(PASSWORD)],
  ['an address with an @ in its password', 'postgres://a:b@c@d/e', 'b@c'],
  ['a connection text', 'host=db password=hunter2 user=a', 'hunter2'],
  ['a field', '{"secret_key":"hunter2"}', 'hunter2'],
  ['a field in a quoted text', JSON.stringify({ msg: '{"api_key": "hunter2"}' }), 'hunter2'],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIhunter2\n-----END PRIVATE KEY-----', 'hunter2'],
];
test.each(SECRETS)('G2: %s is masked', (_what, text, secret) => {
  expect(redact(text)).toContain('[redacted]');
  expect(redact(text)).not.toContain(secret);
});

test('G2: a secret that the process knows is masked in every encoding', () => {
  const secret = 'a "quoted" / secret';
  const text = JSON.stringify({ a: secret, b: encodeURIComponent(secret), c: `x${secret}y` });
  const masked = createRedactor([secret, ''])(text);
  expect(JSON.parse(masked)).toEqual({ a: '[redacted]', b: '[redacted]', c: 'x[redacted]y' });
  expect(createRedactor([encodeURIComponent(secret)])(text)).not.toContain('quoted');
});

test('what is no secret stays readable', () => {
  for (const text of [
    '{"request_id":"req_0193","route":"/api/v1/payout-batches/{batch_id}","status":200}',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    'password authentication failed for user "florin"',
    'http://127.0.0.1:8420/docs/errors/invalid_api_key',
    'relation "ledger_account" does not exist',
  ])
    expect(redact(text)).toBe(text);
});

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { createLogger } from '../platform/observability/index.ts';
import { clearSetting, type Setting, writeSetting } from '../tenancy/settings/index.ts';
import { createRates } from './create-rates.ts';
import { dollarsOf } from './dollars.ts';
import type { RateRequest, Rates } from './port.ts';
import { formatRate } from './rate.ts';
import { RateRefused } from './refused.ts';
import { RATE_SETTINGS } from './settings.ts';

const LONG_MS = 30_000;
/** Long enough for every provider that answers at all. */
const HANGING_MS = 5_000;
const START_MS = 1_800_000_000_000;
type Pair = Pick<RateRequest, 'token' | 'currency'>;
const EUR: Pair = { token: 'USDT', currency: 'EUR' };

/** A provider's behaviour: a JSON text to answer, or a handler. */
type Manner = string | ((response: ServerResponse, url: string) => void);

/** A provider of rates on this machine. */
class Provider {
  readonly asked: string[] = [];
  readonly #server: Server;
  manner: Manner = '{}';

  constructor() {
    this.#server = createServer((request, response) => {
      const url = request.url ?? '';
      this.asked.push(url);
      if (typeof this.manner === 'string') response.end(this.manner);
      else this.manner(response, url);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  /** One request serves all currencies of a token. */
  get source(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/{token}#data.{CURRENCY}`;
  }

  /** The same rates for both tokens, one dollar each. */
  says(rates: Record<string, string>): void {
    const all = Object.entries({ USD: '1', ...rates }).map(([currency, rate]) => `"${currency}":${rate}`);
    this.manner = `{"data":{${all.join(',')}}}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const live = { merchantId: newId(), mode: 'live' } as const;
const sandbox = { merchantId: newId(), mode: 'sandbox' } as const;
const setting = (name: keyof typeof RATE_SETTINGS) => RATE_SETTINGS[name] as Setting<unknown>;
const log = createLogger('silent');

let db: Db;
let drop: () => Promise<void>;
let rates: Rates;
let nowMs = START_MS;
let providers: [Provider, Provider, Provider];

const started = async () => await new Provider().start();
const set = async (name: keyof typeof RATE_SETTINGS, value: unknown, merchantId = NIL_ID) =>
  await writeSetting(db, merchantId, setting(name), value);

const waiting = (timeoutMs: number) => createRates({ db, log, clock: { nowMs: () => nowMs }, timeoutMs });

/** The rate, or why there is none. */
async function ask(pair: Pair, merchant: typeof live | typeof sandbox = live): Promise<string> {
  try {
    return formatRate((await rates.quote({ ...merchant, ...pair })).rate);
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error);
  }
}

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 4 });
  drop = () => database.drop();
  providers = await Promise.all([started(), started(), started()]);
});
afterAll(async () => {
  for (const provider of providers) provider.stop();
  await db.destroy();
  await drop();
});
beforeEach(async () => {
  nowMs = START_MS;
  rates = waiting(LONG_MS);
  for (const provider of providers) {
    provider.asked.length = 0;
    provider.says({ EUR: '0.92' });
  }
  await set('sources', providers[0].source);
});
afterEach(async () => {
  await rates.close();
  for (const merchantId of [NIL_ID, live.merchantId, sandbox.merchantId]) {
    for (const one of Object.values(RATE_SETTINGS)) {
      await clearSetting(db, merchantId, one as Setting<unknown>);
    }
  }
});

test('the sandbox uses the fixed table, live merchants have no rate until the operator sets a source', async () => {
  await clearSetting(db, NIL_ID, setting('sources'));
  expect(await ask(EUR, sandbox)).toBe('0.86');
  expect(await ask({ token: 'USDC', currency: 'KWD' }, sandbox)).toBe('0.306');
  expect(await ask({ token: 'USDT', currency: 'CLF' }, sandbox)).toBe('no_rate');
  expect(await ask(EUR)).toBe('no_rate');
  await set('sources', 'fixed');
  expect(await ask(EUR)).toBe('no_rate');
});

test('without a source a refusal names the setting; while a source is away it does not', async () => {
  const refusal = async () => {
    const refused = await rates.quote({ ...live, ...EUR }).catch((error: unknown) => error);
    if (!(refused instanceof RateRefused)) throw new Error('a rate was found');
    return [refused.asInvalidRequest().message, refused.asUnavailable().message];
  };
  for (const sources of [[], ['fixed']]) {
    await set('sources', sources);
    for (const message of await refusal()) expect(message).toContain('florin settings set rates.sources');
  }
  providers[0].says({ GBP: '0.8' });
  await set('sources', [providers[0].source]);
  for (const message of await refusal()) {
    expect(message).not.toContain('rates.sources');
    expect(message).toMatch(/ry again later\.$/);
  }
});

test('a sandbox merchant’s own table moves, loses and depegs its rates, and nobody else’s', async () => {
  await clearSetting(db, NIL_ID, setting('sources'));
  await set('fixed', 'EUR=0.95,GBP=0', sandbox.merchantId);
  expect(await ask(EUR, sandbox)).toBe('0.95');
  expect(await ask({ token: 'USDT', currency: 'GBP' }, sandbox)).toBe('invalid');
  await set('fixed', 'USDC/USD=0.969999999999 USDT/USD=1.03', sandbox.merchantId);
  expect(await ask(EUR, sandbox)).toBe('0.86');
  expect(await ask({ token: 'USDT', currency: 'USD' }, sandbox)).toBe('1.03');
  expect(await ask({ ...EUR, token: 'USDC' }, sandbox)).toBe('depegged');
  expect(await ask(EUR, { ...sandbox, merchantId: newId() })).toBe('0.86');
});

test('a token costs one of itself, whatever its price and whichever provider is down', async () => {
  await clearSetting(db, NIL_ID, setting('sources'));
  expect(await ask({ token: 'USDT', currency: 'USDT' })).toBe('1');
  expect(await ask({ token: 'USDC', currency: 'USDC' })).toBe('1');
});

test('the rate between two tokens follows from their prices in dollars, and neither may be depegged', async () => {
  const price: Pair = { token: 'USDC', currency: 'USDT' };
  const dollars = (usdt: string, usdc: string) => {
    providers[0].manner = (response, url) =>
      response.end(`{"data":{"USD":${url === '/usdt' ? usdt : usdc}}}`);
    nowMs += 20_000;
  };
  dollars('0.999', '1.001');
  expect(await ask(price)).toBe('1.002002002002');
  dollars('0.97', '1.03');
  expect(await ask(price)).toBe('1.061855670103');
  dollars('0.9699', '1');
  expect(await ask(price)).toBe('depegged');
  dollars('1', '1.0301');
  expect(await ask(price)).toBe('depegged');
  await set('maxDepegBasisPoints', 500);
  expect(await ask(price)).toBe('1.0301');
});

test('decimals of a provider are exact to the last digit, as numbers and as text', async () => {
  providers[0].says({ EUR: '0.920000000001', JPY: '"151.123456789012"', IRR: '4.2e4' });
  expect(await ask(EUR)).toBe('0.920000000001');
  expect(await ask({ ...EUR, currency: 'JPY' })).toBe('151.123456789012');
  expect(await ask({ ...EUR, currency: 'IRR' })).toBe('42000');
});

test('a provider gets one request for all waiting prices, and another one when its answer is old', async () => {
  const many = Array.from({ length: 50 }, () => ask(EUR));
  expect(new Set(await Promise.all(many))).toEqual(new Set(['0.92']));
  expect(await ask({ token: 'USDT', currency: 'USD' })).toBe('1');
  expect(providers[0].asked).toEqual(['/usdt']);
  providers[0].says({ EUR: '0.93' });
  nowMs += 14_999;
  expect(await ask(EUR)).toBe('0.92');
  nowMs += 1;
  expect(await ask(EUR)).toBe('0.93');
  expect(await ask({ ...EUR, token: 'USDC' })).toBe('0.93');
  expect(providers[0].asked).toEqual(['/usdt', '/usdt', '/usdc']);
});

test('an answer stays in use while its provider is down, until it is stale', async () => {
  expect(await ask(EUR)).toBe('0.92');
  providers[0].manner = (response) => response.destroy();
  nowMs += 120_000;
  expect(await ask(EUR)).toBe('0.92');
  expect(providers[0].asked.length).toBeGreaterThan(1);
  nowMs += 1;
  expect(await ask(EUR)).toBe('stale');
  providers[0].says({ EUR: '0.94' });
  // After a failure the provider is not called for 2 s.
  expect(await ask(EUR)).toBe('stale');
  nowMs += 2_000;
  expect(await ask(EUR)).toBe('0.94');
});

test('our own cache never makes an answer stale', async () => {
  await set('refreshSeconds', 3_600);
  await set('maxAgeSeconds', 10);
  expect(await ask(EUR)).toBe('0.92');
  nowMs += 10_001;
  expect(await ask(EUR)).toBe('0.92');
  expect(providers[0].asked).toHaveLength(2);
});

test.each<[string, Manner, string]>([
  ['HTML', '<!doctype html><title>Sign in</title>', 'invalid'],
  ['nothing', '', 'invalid'],
  ['half an answer', '{"data":{"EUR":0.9', 'invalid'],
  ['brackets without end', '['.repeat(200_000), 'invalid'],
  ['a list', '[0.92]', 'no_rate'],
  ['null', 'null', 'no_rate'],
  ['another currency', '{"data":{"USD":1,"GBP":0.8}}', 'no_rate'],
  ['nothing in place of the rate', '{"data":{"USD":1,"EUR":null}}', 'invalid'],
  ['an object in place of the rate', '{"data":{"USD":1,"EUR":{}}}', 'invalid'],
  ['zero', '{"data":{"USD":1,"EUR":0}}', 'invalid'],
  ['minus zero', '{"data":{"USD":1,"EUR":-0}}', 'invalid'],
  ['a negative rate', '{"data":{"USD":1,"EUR":-0.92}}', 'invalid'],
  ['NaN', '{"data":{"USD":1,"EUR":"NaN"}}', 'invalid'],
  ['bare NaN', '{"data":{"USD":1,"EUR":NaN}}', 'invalid'],
  ['infinity', '{"data":{"USD":1,"EUR":1e999}}', 'invalid'],
  ['true', '{"data":{"USD":1,"EUR":true}}', 'invalid'],
  ['a text', '{"data":{"USD":1,"EUR":"about one"}}', 'invalid'],
  ['too many digits', `{"data":{"USD":1,"EUR":0.${'9'.repeat(10_000)}}}`, 'invalid'],
  ['more than is read', `{"data":{"USD":1,"EUR":0.92},"more":"${'a'.repeat(262_144)}"}`, 'no_rate'],
  ['an error', (response) => response.writeHead(500).end('{"data":{"USD":1,"EUR":0.92}}'), 'no_rate'],
  ['a way elsewhere', (response) => response.writeHead(302, { location: '/' }).end(), 'no_rate'],
  ['a token off its dollar', '{"data":{"USD":0.96,"EUR":0.92}}', 'depegged'],
])('a provider that answers %s sells nothing', async (_what, manner, reason) => {
  providers[0].manner = manner;
  expect(await ask(EUR)).toBe(reason);
  // The next price does not wait for it again.
  expect(await ask(EUR)).toBe(reason);
  expect(providers[0].asked).toHaveLength(1);
});

test.each<[string, Manner]>([
  ['word', () => {}],
  ['end', (response) => response.write('{"data":')],
])('a provider that finds no %s in time sells nothing', async (_what, manner) => {
  await rates.close();
  rates = waiting(300);
  providers[0].manner = manner;
  expect(await ask(EUR)).toBe('no_rate');
});

test('the time that a provider gives counts, but not a time in the future', async () => {
  const seconds = START_MS / 1000;
  await set('sources', `${providers[0].source},data.at`);
  const at = async (time: string) => {
    providers[0].says({ EUR: '0.92', at: time });
    nowMs += 20_000;
    return await ask(EUR);
  };
  expect(await at(`${seconds}`)).toBe('0.92');
  expect(await at(`${START_MS}`)).toBe('0.92');
  expect(await at('"2027-01-15T08:00:00Z"')).toBe('0.92');
  expect(await at('"2027-01-15T09:00:00.5+01:00"')).toBe('0.92');
  nowMs = START_MS + 100_001;
  expect(await at(`${seconds}`)).toBe('stale');
  expect(await at('"2027-01-15T07:00:00Z"')).toBe('stale');
  expect(await at(`${seconds + 100_000}`)).toBe('invalid');
  for (const broken of ['null', '"now"', '"2027-01-15"', '-1', '{}', '"2027-13-45T99:00:00Z"']) {
    expect(await at(broken)).toBe('invalid');
  }
});

test('of three providers one may be wrong, hang or be down; two that contradict each other give no rate', async () => {
  await rates.close();
  rates = waiting(HANGING_MS);
  await set('sources', providers.map(({ source }) => source).join(' '));
  const [first, second, third] = providers;
  second.says({ EUR: '0.922' });
  third.says({ EUR: '92', USD: '50' });
  expect(await ask(EUR)).toBe('0.921');
  nowMs += 20_000;
  third.manner = () => {};
  expect(await ask(EUR)).toBe('0.921');
  nowMs += 200_000;
  third.manner = (response) => response.destroy();
  second.says({ EUR: '0.95' });
  expect(await ask(EUR)).toBe('deviating');
  await set('maxDeviationBasisPoints', 400);
  expect(await ask(EUR)).toBe('0.935');
  nowMs += 200_000;
  first.manner = (response) => response.destroy();
  expect(await ask(EUR)).toBe('stale');
});

test('a refusal is 400 with param currency at first and 503 later, and does not mention the sources', async () => {
  providers[0].manner = '<html>';
  const refused = await rates.quote({ ...live, ...EUR }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ reason: 'invalid', currency: 'EUR' });
  const { asInvalidRequest, asUnavailable } = refused as Record<
    string,
    () => { code: string; details: object }
  >;
  const first = asInvalidRequest?.call(refused);
  const later = asUnavailable?.call(refused);
  expect(first).toMatchObject({ code: 'invalid_request', details: { param: 'currency' } });
  expect(later).toMatchObject({ code: 'service_unavailable', details: { retryAfterSeconds: 30 } });
  expect(JSON.stringify([first, later])).not.toContain('127.0.0.1');
});

test('the price of a network’s own coin comes from the installation’s sources, or is not known', async () => {
  await set('sources', '');
  expect(await rates.priceOfCoin('erc20')).toBeUndefined();
  await set('sources', providers.map(({ source }) => source).join(' '));
  for (const provider of providers) provider.says({ USD: '2512.34' });
  const price = await rates.priceOfCoin('erc20');
  expect(price && formatRate(price)).toBe('2512.34');
  expect(providers[0].asked.at(-1)).toBe('/eth');
  expect(price && dollarsOf(21_000n * 10n ** 9n, price)).toBe(52_759n);
  for (const provider of providers) provider.says({ USD: '0.2891' });
  nowMs += 60_000;
  const ofTron = await rates.priceOfCoin('trc20');
  expect(providers[0].asked.at(-1)).toBe('/trx');
  expect(ofTron && dollarsOf(8_420_000n, ofTron)).toBe(2_434_222n);
  for (const provider of providers) provider.says({ USD: '141.02' });
  nowMs += 60_000;
  const ofSolana = await rates.priceOfCoin('spl');
  expect(providers[0].asked.at(-1)).toBe('/sol');
  expect(ofSolana && dollarsOf(2_039_280n, ofSolana)).toBe(287_579n);
  nowMs += 200_000;
  for (const provider of providers) provider.manner = '<html>';
  expect(await rates.priceOfCoin('erc20')).toBeUndefined();
});

test('faults are logged once a minute, with the name of the source and without its URL', async () => {
  const told: Record<string, unknown>[] = [];
  const warn = (fields: object) => told.push({ ...fields });
  const loud = createRates({ db, log: { ...log, warn } as typeof log, clock: { nowMs: () => nowMs } });
  await set('sources', `${providers[0].source.replace('#', '?key=hidden#')}`);
  providers[0].manner = '<html>';
  const quote = () => loud.quote({ ...live, ...EUR }).catch(() => {});
  await quote();
  await quote();
  const host = providers[0].source.split('/')[2];
  const source = { pair: 'USDT/EUR', source: host, fault: 'invalid', detail: 'the answer is no JSON' };
  expect(told).toContainEqual(source);
  expect(told).toContainEqual({ pair: 'USDT/EUR', refused: 'invalid' });
  expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(told.length);
  expect(JSON.stringify(told)).not.toContain('hidden');
  const before = told.length;
  nowMs += 60_000;
  await quote();
  expect(told).toHaveLength(2 * before);
  await loud.close();
});

test.each<[keyof typeof RATE_SETTINGS, string]>([
  ['sources', 'https://r.example/'],
  ['sources', 'fixed other'],
  ['sources', 'http://r.example/#a'],
  ['sources', Array.from({ length: 10 }, (_, at) => `https://r${at}.example/#a`).join(' ')],
  ['fixed', 'EUR'],
  ['fixed', 'EUR=-1'],
  ['fixed', 'ABC=1'],
  ['fixed', 'BTC/EUR=1'],
  ['fixed', 'EUR=1e3'],
  ['maxAgeSeconds', '0'],
  ['maxDeviationBasisPoints', '5001'],
  ['maxDepegBasisPoints', '-1'],
])('the setting %s refuses %s', async (name, value) => {
  await expect(set(name, value)).rejects.toMatchObject({
    code: 'invalid_request',
    details: { param: RATE_SETTINGS[name].name },
  });
});

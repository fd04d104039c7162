import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { CONFIG_OPTIONS, ConfigError, type ConfigKey, readConfig } from './config.ts';

const KEY = 'ab'.repeat(32);
const read = (env: Record<string, string>, flags = {}) => readConfig(env, flags, { logLevel: 'warn' });

/** What a start says to it: one line. */
function complaint(env: Record<string, string>): string {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

const WHOLE = ['', ' ', '1.5', '-1', '1e3', '0x10', 'ten', '12345678901', '８４２０'];
const BAD: Record<ConfigKey, string[]> = {
  host: ['0.0.0.0', '::', '192.168.1.1', '127.0.0.1.example', 'example.com', '127.0.0.1 ', '1270.0.0.1'],
  port: [...WHOLE.slice(1), '65536'],
  dataDir: [],
  databaseUrl: ['localhost:5432', 'mysql://a/b', 'http://a', 'postgres', '/var/run'],
  simchainUrl: ['localhost', 'redis://a'],
  masterKey: [
    'secret',
    KEY.slice(1),
    `${KEY}0`,
    'a'.repeat(43).replace('a', ' '),
    `${'a'.repeat(42)}!!`,
    'correct horse battery staple, correct horse!',
  ],
  publicUrl: ['example.com', 'ftp://a', '//a'],
  tlsCertFile: ['/only/one.pem'],
  tlsKeyFile: ['/only/one.pem'],
  trustedProxy: ['yes', '1', 'TRUE', 'on'],
  logLevel: ['verbose', 'WARN', 'trace', ' info'],
  poolSize: [...WHOLE.slice(1), '0', '1', '1001'],
  ratePerSecond: [...WHOLE.slice(1), '0', '1000001'],
  rateBurst: [...WHOLE.slice(1), '0', '1000001'],
  webhookDisableAfter: [...WHOLE.slice(1), '100000001'],
  metricsPort: [...WHOLE.slice(1), '65536'],
  metricsHost: ['127.0.0.1'],
  requestLog: ['true', 'ON', ' off', '0'],
  story: ['true', 'ON', ' off', '0'],
  outboundAllow: [',', '10.0.0.0/33', '10.0.0.0/8;10.1.0.0/8', 'example.com', 'fe80::%1/64', '10.0.0.0/8,'],
  outboundCaFile: ['/no/such/file', tmpdir(), import.meta.filename],
  outboundResolver: [
    '10.0.0.2',
    'dns.example:53',
    '10.0.0.2:0',
    '10.0.0.2:65536',
    'fd00::2:53',
    '[1.1.1.1]:53',
  ],
  smtpUrl: ['mail.example', 'http://mail.example', 'smtp:/x', 'smtp://mail.example'],
  mailFrom: ['no-reply@shop.example'],
  // Its content is checked where the networks are opened.
  networksFile: [],
  signer: ['/run/signer.sock', 'http://signer:1', 'signer', 'ftp://x', 'https://signer:8443'],
  signerCertFile: [],
  signerKeyFile: [],
  signerCaFile: [],
};

test('every setting has its bad values here', () => {
  expect(Object.keys(BAD).sort()).toEqual(Object.keys(CONFIG_OPTIONS).sort());
});

for (const [key, values] of Object.entries(BAD) as [ConfigKey, string[]][]) {
  const { env } = CONFIG_OPTIONS[key];
  test.each(values)(`${env} %j gives one line that names it`, (value) => {
    const said = complaint({ [env]: value });
    expect(said).toContain(env);
    expect(said).not.toContain('\n');
    expect(said.length).toBeLessThan(300);
    // Keys and passwords are not shown on a screen.
    if (key === 'masterKey' || key === 'databaseUrl') expect(said).not.toContain(JSON.stringify(value));
  });
}

test('an empty variable is none, and the defaults are a sandbox on loopback', () => {
  const config = read(Object.fromEntries(Object.values(CONFIG_OPTIONS).map(({ env }) => [env, ''])));
  expect(config).toEqual({
    host: '127.0.0.1',
    port: 8420,
    portGiven: false,
    dataDir: './.florin',
    databaseUrl: undefined,
    simchainUrl: undefined,
    masterKey: undefined,
    publicUrl: undefined,
    tls: undefined,
    trustedProxy: false,
    logLevel: 'warn',
    poolSize: 10,
    requestLog: true,
    story: false,
    rate: { perSecond: 100, burst: 200 },
    outbound: { allow: [] },
    webhookDisableAfter: 432_000,
    described: expect.any(Array),
  });
});

test('what webhooks may reach is read and checked at the start', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-config-'));
  const file = path.join(folder, 'ca.pem');
  const [first = '', second = ''] = rootCertificates;
  writeFileSync(file, `of the office\n${first}\n\n${second}\n`);
  const { outbound } = read({
    FLORIN_OUTBOUND_ALLOW: '10.1.0.0/16, ::1/128',
    FLORIN_OUTBOUND_CA_FILE: file,
    FLORIN_OUTBOUND_RESOLVER: '[fd00::2]:53',
  });
  expect(outbound.allow.map(([address, bits]) => `${address.toString()}/${bits}`)).toEqual([
    '10.1.0.0/16',
    '::1/128',
  ]);
  expect(outbound).toMatchObject({ ca: `${first}\n${second}`, resolver: '[fd00::2]:53' });
  writeFileSync(file, `${first}\n${second.replace('MII', 'III')}\n`);
  expect(complaint({ FLORIN_OUTBOUND_CA_FILE: file })).toContain('FLORIN_OUTBOUND_CA_FILE');
  rmSync(folder, { recursive: true });
});

test('an address that others can reach needs TLS or a proxy that ends it', () => {
  const open = { FLORIN_HOST: '0.0.0.0' };
  const files = { FLORIN_TLS_CERT_FILE: 'a.pem', FLORIN_TLS_KEY_FILE: 'b.pem' };
  expect(complaint(open)).toContain('FLORIN_TLS_CERT_FILE');
  expect(complaint({ ...open, FLORIN_TRUSTED_PROXY: 'false' })).toContain('FLORIN_TRUSTED_PROXY');
  expect(complaint({ ...open, ...files })).toBe('accepted');
  expect(complaint({ ...open, FLORIN_TRUSTED_PROXY: 'true' })).toBe('accepted');
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) {
    expect(complaint({ FLORIN_HOST: host })).toBe('accepted');
  }
});

test('a flag wins over the environment, and an empty flag is no way around a check', () => {
  expect(read({ FLORIN_PORT: '1' }, { port: '2' }).port).toBe(2);
  expect(() => read({}, { host: '' })).toThrow(ConfigError);
  expect(() => read({}, { port: '' })).toThrow(ConfigError);
});

test('a master key may be hex or base64, of which both alphabets are the same key', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));
  for (const form of ['hex', 'base64', 'base64url'] as const) {
    expect(read({ FLORIN_MASTER_KEY: bytes.toString(form) }).masterKey).toEqual(bytes);
  }
});

test('settings are described with where they come from, and what opens something is never shown', () => {
  const secret = 'deadbeef'.repeat(8);
  const { described } = readConfig(
    {
      FLORIN_MASTER_KEY: secret,
      DATABASE_URL: 'postgres://u:hunter2@db/x',
      FLORIN_SMTP_URL: 'smtp://u:hunter2@mail.example:587',
      FLORIN_MAIL_FROM: 'a@b.example',
      FLORIN_PUBLIC_URL: 'https://pay.example',
      FLORIN_POOL_SIZE: '20',
    },
    { poolSize: '30' },
    { logLevel: 'warn' },
  );
  const of = (name: string) => described.find((one) => one.name === name);
  expect(described.map(({ name }) => name)).toEqual(Object.values(CONFIG_OPTIONS).map(({ env }) => env));
  expect(of('FLORIN_POOL_SIZE')).toMatchObject({ value: '30', source: 'flag' });
  expect(of('FLORIN_PUBLIC_URL')).toMatchObject({ value: 'https://pay.example', source: 'environment' });
  expect(of('FLORIN_PORT')).toMatchObject({ value: null, source: 'default', isSecret: false });
  expect(of('FLORIN_MASTER_KEY')).toMatchObject({ value: null, source: 'environment', isSecret: true });
  expect(JSON.stringify(described)).not.toMatch(/hunter2|deadbeef/);
});

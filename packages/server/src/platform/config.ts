import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import {
  CONFIG_OPTIONS,
  type ConfigFlags,
  type ConfigKey,
  describeProcess,
  type ProcessSetting,
} from './config-options.ts';
import { LOG_LEVELS, type LogLevel } from './observability/log.ts';
import { type Network, parseNetworks } from './outbound/addresses.ts';

export { CONFIG_OPTIONS, type ConfigFlags, type ConfigKey, type ProcessSetting } from './config-options.ts';

/** A setting of the process is missing or wrong: the start stops with this one line. */
export class ConfigError extends Error {}

export interface Config {
  host: string;
  port: number;
  /** The port was asked for: if it is taken, the start stops instead of taking the next one. */
  portGiven: boolean;
  dataDir: string;
  databaseUrl: string | undefined;
  simchainUrl: string | undefined;
  masterKey: Buffer | undefined;
  publicUrl: string | undefined;
  tls: { certFile: string; keyFile: string } | undefined;
  trustedProxy: boolean;
  logLevel: LogLevel;
  poolSize: number;
  rate: { perSecond: number; burst: number };
  /** Where metrics and health are served apart from the API; on the API's own address, to this machine, without. */
  metrics: { host: string; port: number } | undefined;
  outbound: OutboundConfig;
  /** The networks of live merchants; see `florin networks check`. */
  networksFile: string | undefined;
  /** The signer; undefined: live money does not move. */
  signer: SignerAddress | undefined;
  /** Seconds of real time after which a webhook endpoint that only fails is disabled. */
  webhookDisableAfter: number;
  /** Signed requests are recorded. */
  requestLog: boolean;
  /** A fresh sandbox is filled with a store's first customers, payments and payouts. */
  story: boolean;
  /** The mail server; undefined: no mail is sent for real money. */
  mail: MailConfig | undefined;
  /** All of them as people may read them. */
  described: readonly ProcessSetting[];
}

/** What may be dialled at addresses that merchants name, and how. */
export interface OutboundConfig {
  allow: readonly Network[];
  /** Certificate authorities (PEM) beside the built-in ones. */
  ca: string | undefined;
  /** DNS server as `ip:port` instead of the system's. */
  resolver: string | undefined;
}

/** The mail server that takes all mail, and who it comes from. */
export interface MailConfig {
  host: string;
  port: number;
  /** TLS from the first byte. */
  isTls: boolean;
  user: string | undefined;
  password: string | undefined;
  from: { name: string; address: string };
  /** What links in mails begin with: the address that payers see. */
  publicUrl: string;
}

/** A Unix socket of this machine, or TLS with certificates of both sides, as PEM. */
export type SignerAddress =
  | { socket: string }
  | { host: string; port: number; cert: string; key: string; serverCa: string };

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** Programs of this machine alone reach the service. */
export const isLocal = ({ host, trustedProxy }: Config): boolean => LOOPBACK.test(host) && !trustedProxy;

function reader(env: Readonly<Record<string, string | undefined>>, flags: ConfigFlags) {
  const text = (key: ConfigKey) => flags[key] ?? (env[CONFIG_OPTIONS[key].env] || undefined);
  const wrong = (key: ConfigKey, allowed: string) => {
    const { env: name, flag } = CONFIG_OPTIONS[key];
    const shown = key === 'masterKey' || key.endsWith('Url') ? 'what was given' : JSON.stringify(text(key));
    return new ConfigError(`${name} (${flag}) must be ${allowed}, not ${shown}.`);
  };
  const whole = (key: ConfigKey, fallback: number, [min, max]: readonly [number, number]) => {
    const given = text(key);
    if (given === undefined) return fallback;
    if (/^\d{1,9}$/.test(given) && Number(given) >= min && Number(given) <= max) return Number(given);
    throw wrong(key, `a whole number from ${min} to ${max}`);
  };
  const url = (key: ConfigKey, protocols: readonly string[]) => {
    const given = text(key);
    if (given === undefined) return undefined;
    if (URL.canParse(given) && protocols.includes(new URL(given).protocol)) return given;
    throw wrong(key, `an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  };
  return { text, wrong, whole, url };
}
type Reader = ReturnType<typeof reader>;

function readMasterKey({ text, wrong }: Reader): Buffer | undefined {
  const given = text('masterKey');
  if (given === undefined) return undefined;
  if (/^[0-9a-fA-F]{64}$/.test(given)) return Buffer.from(given, 'hex');
  // Node skips what is no base64: a passphrase must not become some other key by that.
  if (/^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/.test(given)) return Buffer.from(given, 'base64');
  throw wrong('masterKey', '32 bytes in hex or base64 (make one with: openssl rand -hex 32)');
}

function readTls({ text }: Reader): Config['tls'] {
  const certFile = text('tlsCertFile');
  const keyFile = text('tlsKeyFile');
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  throw new ConfigError('FLORIN_TLS_CERT_FILE and FLORIN_TLS_KEY_FILE go together: one of them is missing.');
}

const readPublicUrl = ({ url }: Reader) => url('publicUrl', ['https:', 'http:'])?.replace(/(?<!\/)\/+$/, '');

const SMTP_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 };
const MAILBOX = /^(?:([^<>]{1,200}) )?<?([^\s<>@]{1,64}@[^\s<>@]{1,255}?)>?$/;

function readMail(read: Reader): MailConfig | undefined {
  const given = read.url('smtpUrl', Object.keys(SMTP_PORTS));
  const sender = read.text('mailFrom');
  if (given === undefined) {
    if (sender === undefined) return undefined;
    throw read.wrong('mailFrom', 'given together with FLORIN_SMTP_URL');
  }
  const { protocol, hostname, port, username, password } = new URL(given);
  const [, name = '', address] = MAILBOX.exec(sender ?? '') ?? [];
  if (hostname === '')
    throw read.wrong('smtpUrl', 'smtp://user:password@host:587 or smtps://user:password@host:465');
  if (address === undefined)
    throw new ConfigError(
      'FLORIN_SMTP_URL needs FLORIN_MAIL_FROM: who mails come from, such as Shop <no-reply@shop.example>.',
    );
  const publicUrl = readPublicUrl(read);
  if (publicUrl === undefined)
    throw new ConfigError('FLORIN_SMTP_URL needs FLORIN_PUBLIC_URL: links in mails begin with it.');
  return {
    host: hostname,
    port: Number(port || SMTP_PORTS[protocol]),
    isTls: protocol === 'smtps:',
    user: username === '' ? undefined : decodeURIComponent(username),
    password: password === '' ? undefined : decodeURIComponent(password),
    from: { name: name.trim(), address },
    publicUrl,
  };
}

function readMetrics({ text, whole, wrong }: Reader): Config['metrics'] {
  const host = text('metricsHost');
  if (text('metricsPort') !== undefined) {
    return { host: host ?? '127.0.0.1', port: whole('metricsPort', 0, [0, 65_535]) };
  }
  if (host !== undefined) throw wrong('metricsHost', 'given together with FLORIN_METRICS_PORT');
  return undefined;
}

function readOutbound(read: Reader): OutboundConfig {
  const allow = read.text('outboundAllow');
  const networks = allow === undefined ? [] : parseNetworks(allow);
  if (networks === undefined) {
    throw read.wrong('outboundAllow', 'networks separated by commas, such as 10.1.0.0/16,fd00::/8');
  }
  return { allow: networks, ca: readAuthorities(read), resolver: readResolver(read) };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Read at the start: Node skips in silence what it cannot use, and every delivery would fail then. */
function readAuthorities({ text, wrong }: Reader): string | undefined {
  const file = text('outboundCaFile');
  if (file === undefined) return undefined;
  try {
    const certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return certificates.join('\n');
  } catch {}
  throw wrong('outboundCaFile', 'a file of certificates in PEM that can be read');
}

function readResolver({ text, wrong }: Reader): string | undefined {
  const given = text('outboundResolver');
  if (given === undefined) return undefined;
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(given) ?? [];
  const isAddress = v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6;
  if (isAddress && Number(port) >= 1 && Number(port) <= 65_535) return given;
  throw wrong('outboundResolver', 'an address and a port, such as 10.0.0.2:53 or [fd00::2]:53');
}

/** Undefined where it is not given. */
function readEither({ text, wrong }: Reader, key: ConfigKey, [yes, no]: [string, string]) {
  const given = text(key);
  if (given !== undefined && given !== yes && given !== no) throw wrong(key, `${yes} or ${no}`);
  return given === undefined ? undefined : given === yes;
}

function readLogLevel({ text, wrong }: Reader, fallback: LogLevel): LogLevel {
  const given = text('logLevel') ?? fallback;
  const level = LOG_LEVELS.find((known) => known === given);
  if (level === undefined) throw wrong('logLevel', `one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

const SIGNER_PORT_DEFAULT = 443;

function readSigner(read: Reader): SignerAddress | undefined {
  const given = read.text('signer');
  if (given === undefined) return undefined;
  if (given.startsWith('unix:/')) return { socket: given.slice('unix:'.length) };
  const url = URL.parse(given);
  if (url?.protocol !== 'https:') throw read.wrong('signer', 'unix:/path/to/socket or https://host:port');
  const [cert, key, serverCa] = (['signerCertFile', 'signerKeyFile', 'signerCaFile'] as const).map((name) =>
    readPem(read, name),
  );
  if (cert === undefined || key === undefined || serverCa === undefined)
    throw new ConfigError(
      'FLORIN_SIGNER over https needs FLORIN_SIGNER_CERT_FILE, FLORIN_SIGNER_KEY_FILE and FLORIN_SIGNER_CA_FILE.',
    );
  return { host: url.hostname, port: Number(url.port || SIGNER_PORT_DEFAULT), cert, key, serverCa };
}

function readPem(
  read: Reader,
  name: 'signerCertFile' | 'signerKeyFile' | 'signerCaFile',
): string | undefined {
  const file = read.text(name);
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN ')) return text;
  } catch {
    // Said below.
  }
  throw read.wrong(name, 'a readable file with PEM text');
}

/** Plain HTTP would show every request to the network: the interface is HTTPS only. */
function refusePlainHttp(config: Config): void {
  if (LOOPBACK.test(config.host) || config.tls !== undefined || config.trustedProxy) return;
  throw new ConfigError(
    `FLORIN_HOST ${config.host} is not a loopback address, and plain HTTP is served on loopback only: set FLORIN_TLS_CERT_FILE and FLORIN_TLS_KEY_FILE, or FLORIN_TRUSTED_PROXY=true if a proxy in front ends TLS.`,
  );
}

/**
 * Reads and checks every setting of the process; flags win over the environment.
 *
 * @throws ConfigError with one line that names the setting and what it takes
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: ConfigFlags,
  defaults: { logLevel: LogLevel },
): Config {
  const read = reader(env, flags);
  const config: Config = {
    host: read.text('host') ?? '127.0.0.1',
    port: read.whole('port', 8420, [0, 65_535]),
    portGiven: read.text('port') !== undefined,
    dataDir: read.text('dataDir') ?? './.florin',
    databaseUrl: read.url('databaseUrl', ['postgres:', 'postgresql:']),
    simchainUrl: read.url('simchainUrl', ['postgres:', 'postgresql:']),
    masterKey: readMasterKey(read),
    publicUrl: readPublicUrl(read),
    tls: readTls(read),
    trustedProxy: readEither(read, 'trustedProxy', ['true', 'false']) ?? false,
    logLevel: readLogLevel(read, defaults.logLevel),
    poolSize: read.whole('poolSize', 10, [2, 1_000]),
    rate: {
      perSecond: read.whole('ratePerSecond', 100, [1, 1_000_000]),
      burst: read.whole('rateBurst', 200, [1, 1_000_000]),
    },
    metrics: readMetrics(read),
    requestLog: readEither(read, 'requestLog', ['on', 'off']) ?? true,
    story: readEither(read, 'story', ['on', 'off']) ?? false,
    outbound: readOutbound(read),
    mail: readMail(read),
    networksFile: read.text('networksFile'),
    signer: readSigner(read),
    webhookDisableAfter: read.whole('webhookDisableAfter', 432_000, [0, 100_000_000]),
    described: describeProcess(env, flags),
  };
  refusePlainHttp(config);
  return config;
}

/** The process's own environment: read here and nowhere else. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

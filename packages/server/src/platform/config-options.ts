import { keysOf } from '@florin/contract/tables';
import { LOG_LEVELS } from './observability/log.ts';

interface Option {
  env: string;
  flag: string;
  value: string;
  description: string;
}
const option = (env: string, value: string, description: string): Option => ({
  env,
  flag: `--${env
    .replace(/^FLORIN_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`,
  value,
  description,
});

/** Every setting of the process: an environment variable and a flag of the same name. */
export const CONFIG_OPTIONS = {
  host: option(
    'FLORIN_HOST',
    'address',
    'Address to listen on (127.0.0.1). Others need TLS files or a trusted proxy.',
  ),
  port: option('FLORIN_PORT', 'port', 'Port to listen on (8420).'),
  dataDir: option(
    'FLORIN_DATA_DIR',
    'folder',
    'Folder of the sandbox: database, key file, credentials (./.florin).',
  ),
  databaseUrl: option('DATABASE_URL', 'url', 'Your own PostgreSQL 15 or newer instead of the embedded one.'),
  simchainUrl: option(
    'FLORIN_SIMCHAIN_URL',
    'url',
    'PostgreSQL of the simulated chains (that of the product).',
  ),
  masterKey: option(
    'FLORIN_MASTER_KEY',
    'key',
    '32 bytes in hex or base64 that open the secrets in the database.',
  ),
  publicUrl: option('FLORIN_PUBLIC_URL', 'url', 'Address that callers and payers see.'),
  tlsCertFile: option('FLORIN_TLS_CERT_FILE', 'file', 'Certificate chain (PEM) to serve HTTPS with.'),
  tlsKeyFile: option('FLORIN_TLS_KEY_FILE', 'file', 'Private key (PEM) of that certificate.'),
  trustedProxy: option(
    'FLORIN_TRUSTED_PROXY',
    'true',
    'A proxy in front ends TLS; nobody else reaches this port.',
  ),
  logLevel: option(
    'FLORIN_LOG_LEVEL',
    'level',
    `One of ${LOG_LEVELS.join(', ')} (warn in the sandbox, else info).`,
  ),
  poolSize: option('FLORIN_POOL_SIZE', 'number', 'Database connections of this process (10).'),
  ratePerSecond: option('FLORIN_RATE_PER_SECOND', 'number', 'Requests per second and API key (100).'),
  metricsPort: option(
    'FLORIN_METRICS_PORT',
    'port',
    'Port of its own for /metrics, /healthz and /readyz (else on the main one, for this machine only).',
  ),
  metricsHost: option(
    'FLORIN_METRICS_HOST',
    'address',
    'Address of that port (127.0.0.1): a private one, as it asks nobody who they are.',
  ),
  webhookDisableAfter: option(
    'FLORIN_WEBHOOK_DISABLE_AFTER',
    'seconds',
    'Real time after which a webhook endpoint that only fails is disabled (432000: five days).',
  ),
  rateBurst: option('FLORIN_RATE_BURST', 'number', 'Requests that an API key may send at once (200).'),
  requestLog: option('FLORIN_REQUEST_LOG', 'on|off', 'Record signed requests (on); see florin requests.'),
  story: option('FLORIN_STORY', 'on|off', 'Fill a fresh sandbox with a first day (off; npm start: on).'),
  outboundAllow: option(
    'FLORIN_OUTBOUND_ALLOW',
    'networks',
    'Networks that webhooks may reach beside public ones (none); loopback serves sandbox merchants only.',
  ),
  outboundCaFile: option(
    'FLORIN_OUTBOUND_CA_FILE',
    'file',
    'Certificate authorities (PEM) to trust beside the built-in ones.',
  ),
  outboundResolver: option('FLORIN_OUTBOUND_RESOLVER', 'ip:port', "DNS server instead of the system's."),
  smtpUrl: option(
    'FLORIN_SMTP_URL',
    'url',
    'Mail server: smtp://user:password@host:587 or smtps://… (none: no mail is sent; a sandbox keeps its mails).',
  ),
  mailFrom: option('FLORIN_MAIL_FROM', 'address', 'Who mails come from: Shop <no-reply@shop.example>.'),
  networksFile: option(
    'FLORIN_NETWORKS_FILE',
    'file',
    'Nodes, tokens and contracts of the networks that live merchants use (none: live money does not move).',
  ),
  signer: option(
    'FLORIN_SIGNER',
    'address',
    'The signer of live money: unix:/path/of/its/socket, or https://host:port with the files below.',
  ),
  signerCertFile: option(
    'FLORIN_SIGNER_CERT_FILE',
    'file',
    'Certificate (PEM) by which the signer knows us.',
  ),
  signerKeyFile: option('FLORIN_SIGNER_KEY_FILE', 'file', 'Private key (PEM) of that certificate.'),
  signerCaFile: option('FLORIN_SIGNER_CA_FILE', 'file', 'Certificate authority (PEM) of the signer.'),
} as const;
export type ConfigKey = keyof typeof CONFIG_OPTIONS;
export type ConfigFlags = Partial<Record<ConfigKey, string | undefined>>;

/** Values that open something, or hold a password: nobody is shown them. */
const SECRETS: ReadonlySet<ConfigKey> = new Set(['databaseUrl', 'masterKey', 'simchainUrl', 'smtpUrl']);

/** A setting of the process, as people may read it. */
export interface ProcessSetting {
  name: string;
  flag: string;
  description: string;
  /** Null: not given, so that its default holds, or secret. */
  value: string | null;
  isSecret: boolean;
  source: 'default' | 'environment' | 'flag';
}

/** Every setting of the process, with where its value comes from; flags win over the environment. */
export const describeProcess = (
  env: Readonly<Record<string, string | undefined>>,
  flags: ConfigFlags,
): ProcessSetting[] =>
  keysOf(CONFIG_OPTIONS).map((key) => {
    const { env: name, flag, description } = CONFIG_OPTIONS[key];
    const given = flags[key] ?? (env[name] || undefined);
    const isSecret = SECRETS.has(key);
    return {
      name,
      flag,
      description,
      value: isSecret ? null : (given ?? null),
      isSecret,
      source: given === undefined ? 'default' : flags[key] === undefined ? 'environment' : 'flag',
    };
  });

import { type Logger as PinoLogger, pino } from 'pino';

/** What the product writes to: `log.info({ fields }, 'message')`. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'child' | 'level'>;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

// Fields that may carry a secret, wherever an object is logged. Bodies and headers are never logged whole.
const SECRET_FIELDS = [
  'authorization',
  'secret',
  'secret_key',
  'secretKey',
  'api_key',
  'apiKey',
  'token',
  'password',
  'masterKey',
  'raw',
];
const redactPaths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Structured logs on standard error, one JSON object a line; standard output belongs to the banner and the CLI. */
export function createLogger(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactPaths, censor: '[redacted]' },
    },
    pino.destination({ fd: 2, sync: false }),
  );
}

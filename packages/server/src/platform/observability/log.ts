import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { type Logger as PinoLogger, pino } from 'pino';
import { createRedactor } from '../secrets/redact.ts';
import { shorten } from '../secrets/shorten.ts';

/** The logger of the product: `log.info({ fields }, 'message')`. */
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

const CAUSES_MAX = 5;
/** Longer messages are cut. */
const MESSAGE_LENGTH_MAX = 2_000;
/** SQLSTATE class whose messages quote the value that was refused. */
const DATA_EXCEPTION = /^22/;
/** The last quotation may lack its end, where the message was cut. */
const QUOTED = /"[^"]*(?:"|$)/g;

/**
 * An error for the log: class, code, message, frames, causes. Other fields are left out, as drivers put parameters, rows
 * and URLs with passwords there.
 */
function describeFault(error: unknown, depth = 0): object {
  if (!(error instanceof Error))
    return { message: shorten(inspect(error, { depth: 0 }), MESSAGE_LENGTH_MAX) };
  const { cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const errors = 'errors' in error ? error.errors : undefined;
  const message = shorten(error.message, MESSAGE_LENGTH_MAX);
  const quotes = typeof code === 'string' && DATA_EXCEPTION.test(code);
  return {
    type: error.constructor.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: quotes ? message.replaceAll(QUOTED, '"…"') : message,
    stack: framesOf(error),
    ...(cause === undefined || depth >= CAUSES_MAX ? {} : { cause: describeFault(cause, depth + 1) }),
    ...(Array.isArray(errors) && depth < CAUSES_MAX
      ? { errors: errors.slice(0, CAUSES_MAX).map((each) => describeFault(each, depth + 1)) }
      : {}),
  };
}

/** The frames of the stack, without the message at its beginning. */
function framesOf(error: Error): string {
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return frames.map((line) => line.trim()).join('\n');
}

const fields = new AsyncLocalStorage<Readonly<Record<string, unknown>>>();

/** Adds these fields to every line that is logged while `work` runs. */
export function withLogFields<T>(added: Readonly<Record<string, unknown>>, work: () => T): T {
  return fields.run({ ...fields.getStore(), ...added }, work);
}

export interface LogOptions {
  /** Texts to mask everywhere, beside what `redact` finds. */
  secrets?: readonly string[];
  /** Standard error by default: standard output belongs to the banner and the CLI. */
  write?: (line: string) => void;
}

/** Structured logs, one JSON object a line. Secrets are masked in each line right before it is written. */
export function createLogger(level: LogLevel, { secrets = [], write }: LogOptions = {}): Logger {
  const redactLine = createRedactor(secrets);
  const out = write === undefined ? pino.destination({ fd: 2, sync: false }) : { write };
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => fields.getStore() ?? {},
      serializers: { err: (error: unknown) => describeFault(error) },
      redact: { paths: redactPaths, censor: '[redacted]' },
    },
    { write: (line: string) => void out.write(redactLine(line)) },
  );
}

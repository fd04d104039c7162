import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { freshStamp, signatureHeaders } from '@florin/sdk';
import type { Command } from 'commander';
import { findCredentials } from '../credentials.ts';
import { curlCommand, type SignedRequest } from '../curl.ts';
import { examples } from '../examples.ts';
import { attempt, wrongUsage } from '../failure.ts';
import { DATA_DIR, SIGNS_WITH } from '../merchant.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** Calls that require an Idempotency-Key. */
const KEY_REQUIRED = ['/api/v1/payout-batches', '/api/v1/subscriptions/create'];
const STANDARD_INPUT = 0;

interface SignFlags {
  data?: string;
  idempotencyKey?: string;
  dataDir?: string;
}

/** The body's bytes: from an argument, a file, or standard input. */
function readBody(data: string | undefined): Buffer {
  if (!data?.startsWith('@')) return Buffer.from(data ?? '');
  const file = data === '@-' ? STANDARD_INPUT : data.slice(1);
  return attempt('body', 'The body cannot be read', () => readFileSync(file));
}

/** The exact text of the bytes. The API accepts UTF-8 only, and a shell cannot pass NUL. */
function textOf(body: Buffer): string {
  if (isUtf8(body) && !body.includes(0)) return body.toString('utf8');
  throw wrongUsage('The body must be UTF-8 without NUL bytes.');
}

function idempotencyKeyFor(method: string, path: string, given: string | undefined): string | undefined {
  const required = method === 'POST' && KEY_REQUIRED.includes(path.split('?')[0] ?? '');
  if (given === 'auto' || (given === undefined && required)) return randomUUID();
  if (given !== undefined && !/^[\x20-\x7e]{1,128}$/.test(given)) {
    throw wrongUsage('An Idempotency-Key is 1 to 128 printable ASCII characters.');
  }
  return given;
}

/** The request with everything that authenticates it. */
function signRequest(method: string, path: string, flags: SignFlags): SignedRequest {
  if (!/^[A-Z]+$/.test(method)) throw wrongUsage(`${method} is not an HTTP method.`);
  if (!/^\/[\x21-\x7e]*$/.test(path)) {
    throw wrongUsage('The path must begin with / and be percent-encoded, such as /api/v1/balances.');
  }
  const { baseUrl, apiKey, secretKey } = findCredentials(process.env, flags.dataDir);
  const body = readBody(flags.data);
  const key = idempotencyKeyFor(method, path, flags.idempotencyKey);
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    ...signatureHeaders(secretKey, body, freshStamp()),
    ...(body.length === 0 ? {} : { 'Content-Type': 'application/json' }),
    ...(key === undefined ? {} : { 'Idempotency-Key': key }),
  };
  return { method, url: baseUrl + path, headers, body: textOf(body) };
}

export function addSign(program: Command): void {
  const command = program
    .command('sign <method> <path>')
    .description('Print a signed curl command without sending it')
    .option('--data <body>', 'the body, or @file, or @- for standard input; its bytes are sent as they are')
    .option(
      '--idempotency-key <key>',
      'the key, or auto to make one up (done by itself where one is required)',
    )
    .option(...DATA_DIR)
    .action((method: string, path: string, flags: SignFlags, self: Command) => {
      const request = signRequest(method.toUpperCase(), path, flags);
      print(wantsJson(self) ? toJson(request) : curlCommand(request));
      note('Good for one request within 5 minutes.');
    });
  command.addHelpText('after', SIGNS_WITH);
  examples(command, [
    'florin sign GET "/api/v1/payout-batches?limit=5" | sh',
    'florin sign POST /api/v1/payout-batches --data @batch.json --idempotency-key order-17 | sh',
    'florin sign GET /api/v1/balances --json',
  ]);
}

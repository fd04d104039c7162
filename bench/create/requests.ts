import { createHmac, randomUUID } from 'node:crypto';
import type { Network } from '../../packages/contract/src/money.ts';
import { randomAddress } from './addresses.ts';

export interface Credentials {
  apiKey: string;
  secretKey: string;
}

/** Where batches are created. */
export const BATCHES = '/api/v1/payout-batches';
const ADDRESSES = 4_000;

/** Writes bodies of payout batches: every item another recipient. */
export function bodyWriter(network: Network): (items: number) => Buffer {
  const addresses = Array.from({ length: ADDRESSES }, () => randomAddress(network));
  let at = 0;
  return (items) => {
    const list = Array.from({ length: items }, (_, i) => {
      at = (at + 1) % ADDRESSES;
      return {
        network,
        address: addresses[at],
        amount: `${10 + (i % 90)}.50`,
        real_name: `Recipient ${at}`,
        memo: `No. ${at}`,
      };
    });
    return Buffer.from(JSON.stringify({ currency: 'USDT', items: list }));
  };
}

/** The headers of one signed request with a nonce and an Idempotency-Key of its own. */
export function signedHeaders({ apiKey, secretKey }: Credentials, body: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const signature = createHmac('sha256', secretKey)
    .update(`${timestamp}.${nonce}.`)
    .update(body)
    .digest('hex');
  return {
    authorization: `Bearer ${apiKey}`,
    'x-service-timestamp': timestamp,
    'x-service-nonce': nonce,
    'x-service-signature': signature,
    'idempotency-key': randomUUID(),
    'content-type': 'application/json',
  };
}

/** Whole HTTP requests as bytes, made before the clock starts. */
export function buildRequests(
  credentials: Credentials,
  count: number,
  writeBody: () => Buffer,
  path: string = BATCHES,
): Buffer[] {
  return Array.from({ length: count }, () => {
    const body = writeBody();
    const headers = {
      host: 'bench',
      ...signedHeaders(credentials, body),
      'content-length': String(body.length),
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n`), body]);
  });
}

/** The same of reads. */
export function buildReads(credentials: Credentials, count: number, path: string): Buffer[] {
  return Array.from({ length: count }, () => {
    const { 'content-type': _, 'idempotency-key': __, ...headers } = signedHeaders(credentials, NO_BODY);
    const head = Object.entries({ host: 'bench', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    return Buffer.from(`GET ${path} HTTP/1.1\r\n${head.join('')}\r\n`);
  });
}

const NO_BODY = Buffer.alloc(0);

import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Florin, type FlorinOptions } from './florin.ts';

export const API_KEY = 'fl_test_peer';
export const SECRET_KEY = 'peer-secret';

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}

/** What the peer does with one request: answer, or misbehave with the response at hand. */
export type Step = Answer | ((response: ServerResponse) => void);

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  client(options?: Partial<FlorinOptions>): Florin;
}

/** A real HTTP server that takes one step per request, in order; a request beyond the script is answered 418. */
export async function startPeer(...script: Step[]): Promise<Peer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks) });
      const step = script[received.length - 1] ?? { status: 418, json: { unscripted: `${method} ${url}` } };
      if (typeof step === 'function') step(response);
      else answer(step, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    client: (options) =>
      new Florin({ baseUrl: url, apiKey: API_KEY, secretKey: SECRET_KEY, retryPauseMs: 1, ...options }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function answer({ status = 200, headers, json = {} }: Answer, response: ServerResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers });
  response.end(JSON.stringify(json));
}

/** The signature that the specification asks for, computed from the bytes that came and nothing of the SDK. */
export function expectedSignature({ headers, body }: Received): string {
  const prefix = `${String(headers['x-service-timestamp'])}.${String(headers['x-service-nonce'])}.`;
  return createHmac('sha256', SECRET_KEY)
    .update(Buffer.concat([Buffer.from(prefix), body]))
    .digest('hex');
}

export const payoutError = (
  status: number,
  errorCode: string,
  headers: Record<string, string> = {},
): Step => ({
  status,
  headers,
  json: { code: status, message: `said ${errorCode}`, errorCode, data: null },
});
export const cutOff: Step = (response) => void response.socket?.destroy();
export const neverAnswers: Step = () => {};

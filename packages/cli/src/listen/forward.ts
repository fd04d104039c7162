import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { performance } from 'node:perf_hooks';
import { type RecordedEvent, webhooks } from '@florin/sdk';
import { wrongUsage } from '../failure.ts';

/** The timeout of the service's own deliveries. */
const TIMEOUT_MS = 30_000;
const SHOWN_BYTES_MAX = 200;

export interface ForwardOptions {
  target: URL;
  secretKey: string;
  /** Certificates of the receiver are not verified. */
  skipVerify: boolean;
  signal: AbortSignal;
}

/** The outcome of one POST. */
export interface Outcome {
  acknowledged: boolean;
  status: number | null;
  /** Why there was no response. */
  failure: string | null;
  durationMs: number;
  /** The beginning of a response that is no acknowledgement. */
  answer: string | null;
}

/** `3000`, `3000/hook`, `localhost:3000/hook` and whole addresses. @throws CommandFailure */
export function readTarget(text: string): URL {
  const whole = text.replace(/^:?(?=\d{1,5}(\/|$))/, 'localhost:');
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(whole) ? whole : `http://${whole}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw wrongUsage(`--forward-to takes an address such as http://localhost:3000/webhooks, not ${text}.`);
  }
  return url;
}

/** Sends an event as the service does: the recorded bytes, the same headers, signed for this one attempt. */
export async function forward({ id, type, body }: RecordedEvent, options: ForwardOptions): Promise<Outcome> {
  const { target, secretKey, skipVerify, signal } = options;
  const headers = webhooks.generateTestHeaders(body, secretKey, { eventType: type, eventId: id });
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  const startedAtMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAtMs);
  try {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const sent = send(target, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      signal: ending,
      rejectUnauthorized: !skipVerify,
    });
    sent.end(body);
    const response = await answerOf(sent);
    const status = response.statusCode ?? 0;
    const acknowledged = status >= 200 && status < 300;
    const answer = acknowledged ? null : await beginningOf(response);
    response.resume();
    return { acknowledged, status, failure: null, durationMs: durationMs(), answer };
  } catch (error) {
    return {
      acknowledged: false,
      status: null,
      failure: failureOf(error),
      durationMs: durationMs(),
      answer: null,
    };
  }
}

async function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    sent.once('response', (response: IncomingMessage) => {
      // The rest of the response does not matter.
      response.on('error', () => {});
      resolve(response);
    });
    sent.on('error', reject);
  });
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.length >= SHOWN_BYTES_MAX) break;
  }
  return text.slice(0, SHOWN_BYTES_MAX).trim();
}

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error.name === 'TimeoutError' || (cause instanceof Error && cause.name === 'TimeoutError'))
    return `no answer within ${TIMEOUT_MS / 1000} s`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code === 'ECONNREFUSED' ? 'connection refused: is your server running?' : error.message || code;
}

import { createHmac, randomUUID } from 'node:crypto';
import { NONCE_HEADER, SIGNATURE_HEADER, signedPrefix, TIMESTAMP_HEADER } from '@florin/contract/signing';
import Type, { type Static } from 'typebox';
import type { Clock } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { compileShape, JsonRefused, parseStrictJson, TokenBuckets } from '../platform/http/index.ts';
import { isLocal, type PageRequest, type PublicPage } from '../platform/http/pages/index.ts';

/** The sandbox's own key, with which the reference page sends requests. */
export interface TryOutKey {
  apiKey: string;
  secretKey: string;
}

/** A try of an example is some calls, one after the other. */
const SIGNATURES_PER_SECOND = 20;
const SIGNATURES_BURST = 60;

const ToSign = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'DELETE']),
    path: Type.String({ pattern: '^/api/v1/' }),
    body: Type.String(),
  },
  { additionalProperties: false },
);

/** The limit of a request body, including its JSON escaping. */
const BODY_BYTES_MAX = 1_048_576;

const checkToSign = compileShape(ToSign);

/**
 * Signs requests of the reference page, so that the secret stays on the server. It exists in the sandbox only and serves
 * only our own page in a browser on this machine: other origins, DNS rebinding, and callers behind a proxy are refused.
 */
export function signPage(key: TryOutKey, clock: Clock): PublicPage {
  const bucket = new TokenBuckets(SIGNATURES_PER_SECOND, SIGNATURES_BURST);
  return {
    method: 'POST',
    path: '/docs/sign',
    bodyBytesMax: BODY_BYTES_MAX,
    handle: async (request) => {
      refuseForeign(request);
      bucket.takeOrRefuse('all', clock.nowMs(), 'Too many requests to sign.');
      const { body } = read(request.body);
      const headers = signatureOf(body, key.secretKey, clock.nowSeconds());
      return { status: 200, type: 'application/json; charset=utf-8', body: JSON.stringify({ headers }) };
    },
  };
}

function refuseForeign(request: PageRequest): void {
  const { headers, repeated } = request;
  const ownOrigins = [`http://${headers.host}`, `https://${headers.host}`];
  const isOwnPage =
    isLocal(request) &&
    !repeated.has('origin') &&
    ownOrigins.includes(headers.origin ?? '') &&
    (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin';
  if (!isOwnPage)
    throw new Fail('forbidden', 'Requests are signed for the reference page on this machine only.');
}

function read(body: Buffer): Static<typeof ToSign> {
  try {
    const value = parseStrictJson(body);
    checkToSign(value);
    return value as Static<typeof ToSign>;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw new Fail('invalid_request', `The body is refused: ${error.reason}.`);
  }
}

function signatureOf(body: string, secretKey: string, nowSeconds: number): Record<string, string> {
  const timestamp = String(nowSeconds);
  const nonce = randomUUID();
  const signature = createHmac('sha256', secretKey)
    .update(signedPrefix(timestamp, nonce))
    .update(body)
    .digest('hex');
  return { [TIMESTAMP_HEADER]: timestamp, [NONCE_HEADER]: nonce, [SIGNATURE_HEADER]: signature };
}

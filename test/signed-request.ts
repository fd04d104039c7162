import { createHmac, randomUUID } from 'node:crypto';

export interface Credentials {
  apiKey: string;
  secretKey: string;
}

export interface SignedOptions {
  method?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  timestamp?: string;
  nonce?: string;
  /** Bytes to sign instead of those sent. */
  signedBody?: string | Uint8Array;
}

/** The headers of the specification, section 5, made without any code of the product. */
export function signedHeaders(credentials: Credentials, options: SignedOptions = {}): Record<string, string> {
  const timestamp = options.timestamp ?? String(Math.floor(Date.now() / 1000));
  const nonce = options.nonce ?? randomUUID();
  const body = options.signedBody ?? options.body ?? '';
  const signature = createHmac('sha256', credentials.secretKey)
    .update(`${timestamp}.${nonce}.`)
    .update(body)
    .digest('hex');
  return {
    authorization: `Bearer ${credentials.apiKey}`,
    'x-service-timestamp': timestamp,
    'x-service-nonce': nonce,
    'x-service-signature': signature,
    ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

/** Sends one signed request as raw as fetch allows, and reads the whole answer; of a stream its head alone. */
export async function send(
  url: string,
  credentials: Credentials,
  options: SignedOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    headers: signedHeaders(credentials, options),
    ...(options.body === undefined ? {} : { body: Buffer.from(options.body) }),
  });
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (isEndless) await response.body?.cancel();
  const text = isEndless ? '' : await response.text();
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(text);
  } catch {
    // Not JSON: the caller sees it in `text`.
  }
  return { status: response.status, headers: response.headers, text, json };
}

import { createOperatorAgent } from './operator-agent.ts';

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 262_144;
const CONNECTIONS_PER_ORIGIN = 4;
const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/;

/** Why nothing was read. Neither it nor the error contains the URL, which may hold a key. */
export type UrlFailure = 'timeout' | 'connection' | 'status' | 'too_large' | 'not_utf8';

export class UrlUnread extends Error {
  readonly failure: UrlFailure;

  constructor(failure: UrlFailure) {
    super(failure);
    this.failure = failure;
  }
}

export interface UrlReaderOptions {
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
  /** For the whole read: resolving, connecting, the answer to its last byte (5,000). */
  timeoutMs?: number | undefined;
}

export interface UrlReader {
  /**
   * Gets the body of a 200 as text, of at most 262,144 bytes. Redirects are not followed.
   *
   * @throws UrlUnread
   */
  read(url: string): Promise<string>;
  close(): Promise<void>;
}

/** Whether a text is a URL to read from: https, or http on this machine. */
export function isReadableUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOST.test(url.hostname));
}

export function failureOf(error: unknown): UrlFailure {
  if (!(error instanceof Error)) return 'connection';
  const code = 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too_large';
  return error.name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : 'connection';
}

/** @throws UrlUnread for bytes that are not UTF-8 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UrlUnread('not_utf8');
  }
}

/**
 * Reads URLs of the operator, which may be in the operator's own network; URLs of merchants go through `outbound`.
 */
export function createUrlReader({ ca, timeoutMs = TIMEOUT_MS }: UrlReaderOptions = {}): UrlReader {
  const agent = createOperatorAgent(ca, { connections: CONNECTIONS_PER_ORIGIN, maxResponseSize: BYTES_MAX });
  const get = async (url: string): Promise<Uint8Array> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const options = { method: 'GET', signal, headers: { accept: 'application/json' } } as const;
    const { statusCode, body } = await agent.request(url, options);
    if (statusCode === 200) return await body.bytes();
    // An unhandled error would end the process.
    body.on('error', () => {}).destroy();
    throw new UrlUnread('status');
  };
  return {
    read: async (url) => {
      if (!isReadableUrl(url)) throw new UrlUnread('connection');
      const bytes = await get(url).catch((error: unknown) => {
        throw error instanceof UrlUnread ? error : new UrlUnread(failureOf(error));
      });
      return textOf(bytes);
    },
    close: () => agent.close(),
  };
}

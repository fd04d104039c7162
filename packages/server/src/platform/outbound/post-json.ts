import { createOperatorAgent } from './operator-agent.ts';
import { failureOf, textOf, UrlUnread } from './read-url.ts';

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 16_777_216;
/** Of an answer that its caller expects to be large. */
const LARGE_BYTES_MAX = 4 * BYTES_MAX;
const CONNECTIONS_PER_ORIGIN = 8;

export interface JsonPosterOptions {
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
  /** For the whole exchange: resolving, connecting, the answer to its last byte (10,000). */
  timeoutMs?: number | undefined;
}

export interface JsonAnswer {
  status: number;
  /** Seconds of `Retry-After`; undefined without one. */
  retryAfter: number | undefined;
  body: string;
}

interface PostLimits {
  /** Of the answer (16 MiB); at most 64 MiB. */
  bytesMax?: number | undefined;
  /** Instead of the poster's own. */
  timeoutMs?: number | undefined;
}

export interface JsonPoster {
  /**
   * Posts JSON and reads the answer, of any status. Redirects are not followed. User and password of the URL become
   * `Authorization`.
   *
   * @throws UrlUnread, which does not contain the URL
   */
  post(url: string, json: string, limits?: PostLimits): Promise<JsonAnswer>;
  close(): Promise<void>;
}

/** Posts to URLs of the operator, which may be in the operator's own network and may hold keys. */
export function createJsonPoster({
  ca,
  timeoutMs: usualMs = TIMEOUT_MS,
}: JsonPosterOptions = {}): JsonPoster {
  const agent = createOperatorAgent(ca, {
    connections: CONNECTIONS_PER_ORIGIN,
    maxResponseSize: LARGE_BYTES_MAX,
  });
  const exchange = async (url: string, json: string, { bytesMax, timeoutMs }: Required<PostLimits>) => {
    const { target, headers } = splitCredentials(url);
    const signal = AbortSignal.timeout(timeoutMs ?? usualMs);
    const options = { method: 'POST', signal, headers, body: json } as const;
    const { statusCode, headers: received, body } = await agent.request(target, options);
    const bytes = await bytesOf(body, bytesMax ?? BYTES_MAX);
    return { status: statusCode, retryAfter: secondsOf(received['retry-after']), bytes };
  };
  return {
    post: async (url, json, { bytesMax, timeoutMs } = {}) => {
      const { bytes, ...answer } = await exchange(url, json, { bytesMax, timeoutMs }).catch(
        (error: unknown) => {
          throw error instanceof UrlUnread ? error : new UrlUnread(failureOf(error));
        },
      );
      return { ...answer, body: textOf(bytes) };
    },
    close: () => agent.close(),
  };
}

/** Leaving the loop ends the connection: nothing further is read. @throws UrlUnread */
async function bytesOf(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) throw new UrlUnread('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function splitCredentials(url: string): { target: URL; headers: Record<string, string> } {
  const target = new URL(url);
  const headers: Record<string, string> = { accept: 'application/json', 'content-type': 'application/json' };
  if (target.username !== '' || target.password !== '') {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    target.username = '';
    target.password = '';
  }
  return { target, headers };
}

function secondsOf(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

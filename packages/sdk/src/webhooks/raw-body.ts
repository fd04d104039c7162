/** The specification's cap of a request's body, which no event comes near. */
export const BODY_MAX_BYTES = 1_048_576;

/** What stands in for a body of more than BODY_MAX_BYTES: the rest of it was thrown away. */
export const TOO_LARGE = Symbol('body too large');

export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts used of node:http's request, and so of Express's. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: HeaderRecord;
  readonly readableDidRead: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * The bytes of a request: read here, or left by a parser that keeps them (`express.raw()`, a `rawBody`). Where a parser
 * kept none it gives what that parser made of them, which `verify` refuses by name. Rejects if the connection breaks.
 */
export async function readNodeBody(request: NodeRequest): Promise<unknown> {
  if ('rawBody' in request && request.rawBody instanceof Uint8Array) return request.rawBody;
  if (request.readableDidRead) return 'body' in request ? request.body : undefined;

  const kept = new CappedBytes();
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk) => kept.add(chunk));
    request.on('end', resolve);
    request.on('error', reject);
    request.on('close', () => reject(new Error('the connection was closed before the whole body had come')));
  });
  return kept.bytes();
}

/** As `readNodeBody`, of a request of the web's standard; undefined where another has read it. */
export async function readWebBody(request: Request): Promise<unknown> {
  if (request.bodyUsed) return undefined;
  const kept = new CappedBytes();
  for await (const chunk of request.body ?? []) {
    kept.add(chunk);
    if (kept.isFull) break;
  }
  return kept.bytes();
}

class CappedBytes {
  #chunks: Uint8Array[] = [];
  #length = 0;

  get isFull(): boolean {
    return this.#length > BODY_MAX_BYTES;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.isFull) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  bytes(): Uint8Array | typeof TOO_LARGE {
    return this.isFull ? TOO_LARGE : Buffer.concat(this.#chunks);
  }
}

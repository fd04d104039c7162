import { type Credentials, signedHeaders } from '../signed-request.ts';

/** One block of a stream, by the names of its lines; a comment's name is ''. */
type Block = Record<string, string>;

/** An open stream, read by hand: the blocks as they came, without any code of the product. */
export interface StreamReader {
  status: number;
  headers: Headers;
  /** Reads on until enough blocks have come, or the stream has ended. */
  blocks(count: number): Promise<Block[]>;
  close(): void;
}

const blockOf = (text: string): Block =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    }),
  );

export async function openStream(
  baseUrl: string,
  credentials: Credentials,
  query = '',
  headers: Record<string, string> = {},
): Promise<StreamReader> {
  return await readStream(`${baseUrl}/api/v1/events/stream${query}`, signedHeaders(credentials, { headers }));
}

export async function readStream(url: string, headers: Record<string, string>): Promise<StreamReader> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const blocks: Block[] = [];
  let rest = '';
  return {
    status: response.status,
    headers: response.headers,
    blocks: async (count) => {
      while (blocks.length < count) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) break;
        const texts = (rest + piece.value).split('\n\n');
        rest = texts.pop() ?? '';
        blocks.push(...texts.map(blockOf));
      }
      return blocks;
    },
    close: () => leaving.abort(),
  };
}

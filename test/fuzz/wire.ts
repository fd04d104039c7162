import { createHmac, randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Credentials } from '../signed-request.ts';
import type { Draft, Header } from './draft.ts';

/** A request with its ids and its signature: what goes over the wire. */
export interface Ready {
  method: string;
  target: string;
  headers: readonly Header[];
  body: Buffer | undefined;
  chunked: boolean;
  /** Comes from an address of its own, so that what it does wrong slows nobody else. */
  stranger: boolean;
}

export const isStream = ({ headers }: Pick<Answer, 'headers'>) =>
  String(headers['content-type']).startsWith('text/event-stream');

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

const SIGNED_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** Signs by the specification, section 5, without any code of the product. */
export function signed(draft: Draft, credentials: Credentials, resolve: (text: string) => string): Ready {
  const path = resolve(draft.path);
  const query = resolve(draft.query);
  const body =
    typeof draft.body === 'string' ? Buffer.from(resolve(draft.body)) : draft.body && Buffer.from(draft.body);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const hmac = createHmac('sha256', credentials.secretKey).update(`${timestamp}.${nonce}.`);
  const signature = hmac.update(SIGNED_METHODS.has(draft.method) && body ? body : '').digest('hex');
  const own: Header[] = [
    ['Authorization', `Bearer ${credentials.apiKey}`],
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Nonce', nonce],
    ['X-Service-Signature', signature],
  ];
  const headers = [...(draft.tamper?.(own) ?? own), ...draft.headers].map(
    ([name, value]) => [name, resolve(value)] as const,
  );
  return {
    method: draft.method,
    target: query === '' ? path : `${path}?${query}`,
    headers,
    body,
    chunked: draft.chunked,
    stranger: draft.tamper !== undefined,
  };
}

/** Loopback addresses beside 127.0.0.1: on other systems they have to be set up first. */
const CAN_BE_STRANGER = process.platform === 'linux';
const TIMEOUT_MS = 60_000;

/** Sends requests over kept connections, each header line as it is given. */
export class Wire {
  readonly #host: string;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #noAgent = new Agent({ keepAlive: false });
  #strangers = 0;

  constructor(baseUrl: string) {
    const { hostname, port } = new URL(baseUrl);
    this.#host = hostname;
    this.#port = Number(port);
  }

  async send(ready: Ready): Promise<Answer> {
    const stranger = ready.stranger && CAN_BE_STRANGER;
    const length =
      ready.body === undefined || ready.chunked ? [] : [['Content-Length', String(ready.body.length)]];
    const coding = ready.chunked ? [['Transfer-Encoding', 'chunked']] : [];
    const headers = [['Host', `${this.#host}:${this.#port}`], ...ready.headers, ...length, ...coding].flat();
    return await new Promise((resolve, reject) => {
      const sent = request({
        host: this.#host,
        port: this.#port,
        method: ready.method,
        path: ready.target,
        headers,
        agent: stranger ? this.#noAgent : this.#agent,
        timeout: TIMEOUT_MS,
        ...(stranger ? { localAddress: this.#nextAddress() } : {}),
      });
      sent.on('response', (response) => void readAnswer(response).then(resolve, reject));
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
      sent.on('error', reject);
      sent.end(ready.body);
    });
  }

  close(): void {
    this.#agent.destroy();
    this.#noAgent.destroy();
  }

  #nextAddress(): string {
    this.#strangers++;
    return `127.${1 + ((this.#strangers >> 16) & 127)}.${(this.#strangers >> 8) & 255}.${this.#strangers & 255}`;
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
    // A stream has no end: its first piece has to do. Leaving the loop closes the connection.
    if (isStream(response)) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const BODY_SHOWN_MAX = 4_000;

/** The request as a command. Its nonce is spent and its signature runs out: sent again it is 401. */
export function asCurl(baseUrl: string, { method, target, headers, body }: Ready): string {
  const lines = headers.flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]);
  const command = ['curl', '-sS', '-i', '--path-as-is', '--globoff', '-X', method, ...lines];
  const url = quoted(`${baseUrl}${target}`);
  if (body === undefined) return [...command, url].join(' ');
  if (body.length > BODY_SHOWN_MAX)
    return `${[...command, url].join(' ')} # and a body of ${body.length} bytes`;
  return `printf %s ${body.toString('base64')} | base64 -d | ${[...command, '--data-binary', '@-', url].join(' ')} # ${JSON.stringify(body.toString())}`;
}

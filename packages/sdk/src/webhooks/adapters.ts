import {
  BODY_MAX_BYTES,
  type HeaderRecord,
  type NodeRequest,
  readNodeBody,
  readWebBody,
} from './raw-body.ts';
import type { WebhookHeaders } from './verify.ts';

/** The response to a delivery. `text` is the reason, without secrets or internal errors. */
export interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

/** Verifies the received bytes and answers; never rejects. */
export type Receive = (rawBody: unknown, headers: WebhookHeaders) => Promise<WebhookAnswer>;

/** The parts used of node:http's response, and so of Express's. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/** The parts used of a Fastify instance. */
export interface FastifyApp {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

interface FastifyRequest {
  readonly headers: HeaderRecord;
  readonly body?: unknown;
}

interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(text: string): unknown;
}

const ONLY_POST: WebhookAnswer = { status: 405, text: 'webhooks come by POST' };
/** The request was cut off; the service sends it again. */
const BROKEN_OFF: WebhookAnswer = { status: 500, text: 'the body did not come whole' };

export function nodeListener(receive: Receive) {
  const answerTo = async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const answer =
      request.method === 'POST' ? await readThen(receive, readNodeBody(request), request) : ONLY_POST;
    // A timeout of the server's own may have answered meanwhile.
    if (response.headersSent) return;
    response.statusCode = answer.status;
    for (const [name, value] of Object.entries(headersOf(answer))) response.setHeader(name, value);
    response.end(answer.text);
  };
  return (request: NodeRequest, response: NodeResponse): void => {
    answerTo(request, response).catch((error: unknown) => console.error('no answer to a webhook:', error));
  };
}

export function webHandler(receive: Receive) {
  return async (request: Request): Promise<Response> => {
    const answer =
      request.method === 'POST' ? await readThen(receive, readWebBody(request), request) : ONLY_POST;
    return new Response(answer.text, { status: answer.status, headers: headersOf(answer) });
  };
}

export function fastifyPlugin(receive: Receive) {
  return async (app: FastifyApp): Promise<void> => {
    app.removeAllContentTypeParsers();
    const asBytes = { parseAs: 'buffer', bodyLimit: BODY_MAX_BYTES } as const;
    app.addContentTypeParser('*', asBytes, (_request, body, done) => done(null, body));
    app.post('/', async (request, reply) => {
      // Fastify calls no parser for a body that is empty.
      const answer = await receive(request.body ?? new Uint8Array(), request.headers);
      reply.code(answer.status);
      reply.headers(headersOf(answer));
      return reply.send(answer.text);
    });
  };
}

async function readThen(
  receive: Receive,
  reading: Promise<unknown>,
  { headers }: { headers: WebhookHeaders },
): Promise<WebhookAnswer> {
  try {
    return await receive(await reading, headers);
  } catch {
    return BROKEN_OFF;
  }
}

function headersOf(answer: WebhookAnswer): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    ...(answer === ONLY_POST && { Allow: 'POST' }),
  };
}

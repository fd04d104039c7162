import {
  type FastifyApp,
  fastifyPlugin,
  type NodeResponse,
  nodeListener,
  type Receive,
  type WebhookAnswer,
  webHandler,
} from './adapters.ts';
import type { WebhookEvent } from './events.ts';
import { BODY_MAX_BYTES, type NodeRequest, TOO_LARGE } from './raw-body.ts';
import { isVerdict } from './sequence.ts';
import {
  knownSecrets,
  type VerifyOptions,
  verify,
  type WebhookSecret,
  WebhookVerificationError,
} from './verify.ts';

export interface ReceiverOptions extends Pick<VerifyOptions, 'toleranceSeconds'> {
  /** A function is called for each delivery, so that a secret can change while the server runs. */
  secret: WebhookSecret | (() => WebhookSecret | Promise<WebhookSecret>);
  /**
   * What to do with an event; 200 is answered once it resolves, which should be within 30 s, with its verdict if it
   * gives one (`latestOnly`, `everyOnce`). If it throws, the answer is 500 and the service comes again.
   */
  onEvent(event: WebhookEvent): unknown;
  /** Called with each refused webhook (WebhookVerificationError) and each error of onEvent. Default: the console. */
  onError?(error: unknown, event: WebhookEvent | undefined): unknown;
}

/** A receiver of webhooks in the shapes that servers call. Each reads the raw body itself, before any parser. */
export interface Receiver {
  /** For node:http and Express: `createServer(receiver.node)`, `app.post('/webhooks', receiver.node)`. */
  readonly node: (request: NodeRequest, response: NodeResponse) => void;
  /** For the web's standard Request: Hono's `c.req.raw`, a route of Next.js, Deno, Bun, Workers. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** A Fastify plugin: `app.register(receiver.fastify, { prefix: '/webhooks' })`. Other routes keep their parsers. */
  readonly fastify: (app: FastifyApp) => Promise<void>;
  /** For any other server: the bytes as received and the headers in, the answer out. Never rejects. */
  readonly receive: Receive;
}

/**
 * Verifies webhooks, passes the event to `onEvent` and answers: 200 when it resolved, 400 with the reason for a
 * webhook that is refused, 413 beyond 1 MiB, 500 when `onEvent` threw or the receiver is set up wrongly (no secret, a
 * body that was parsed before), so that the service comes again. Throws a TypeError if a secret is missing from the
 * start.
 *
 * @example
 * ```ts
 * const receiver = webhooks.receiver({
 *   secret: process.env.FLORIN_SECRET_KEY,
 *   onEvent: (event) => console.log(event.type, event.id),
 * });
 * createServer(receiver.node).listen(8080);
 * ```
 */
export function receiver(options: ReceiverOptions): Receiver {
  const { secret } = options;
  if (typeof secret !== 'function') knownSecrets(secret);

  const receive: Receive = async (rawBody, headers) => {
    if (isTooLarge(rawBody)) return { status: 413, text: `more than ${BODY_MAX_BYTES} bytes` };
    let event: WebhookEvent | undefined;
    try {
      const secrets = typeof secret === 'function' ? await secret() : secret;
      event = verify(rawBody as Uint8Array, headers, secrets, options);
      const result = await options.onEvent(event);
      return { status: 200, text: isVerdict(result) ? result : 'ok' };
    } catch (error) {
      report(options, error, event);
      return answerTo(error, event);
    }
  };
  return {
    receive,
    node: nodeListener(receive),
    fetch: webHandler(receive),
    fastify: fastifyPlugin(receive),
  };
}

function isTooLarge(rawBody: unknown): boolean {
  if (rawBody instanceof Uint8Array || rawBody instanceof ArrayBuffer)
    return rawBody.byteLength > BODY_MAX_BYTES;
  return rawBody === TOO_LARGE;
}

/** An error that came before there was an event is about the webhook, a later one is the handler's. */
function answerTo(error: unknown, event: WebhookEvent | undefined): WebhookAnswer {
  if (event !== undefined) return { status: 500, text: 'the handler failed' };
  if (!(error instanceof WebhookVerificationError))
    return { status: 500, text: 'the receiver is not set up' };
  const { reason, message } = error;
  // The rest of the message is about the receiver's own secret, which the sender must not see.
  const text = reason === 'signature_mismatch' ? 'the signature does not match the body' : message;
  return { status: reason === 'body_not_raw' ? 500 : 400, text: `${reason}: ${text}` };
}

/** An error of the callback changes neither the answer nor ends the process. */
function report(options: ReceiverOptions, error: unknown, event: WebhookEvent | undefined): void {
  const telling = async () => (options.onError ? options.onError(error, event) : logError(error, event));
  telling().catch((failure: unknown) => console.error(failure));
}

function logError(error: unknown, event: WebhookEvent | undefined): void {
  if (event !== undefined) console.error(`webhook ${event.id} (${event.type}) failed:`, error);
  else if (error instanceof WebhookVerificationError)
    console.warn(`webhook refused: ${error.reason}: ${error.message}`);
  else console.error('webhooks cannot be received:', error);
}

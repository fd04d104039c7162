import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fail } from '../../fail.ts';
import type { Logger } from '../../observability/index.ts';
import { isCall } from '../error-body.ts';
import { routeOf } from '../observe.ts';
import type { RawRequest, RequestHead } from '../pipeline.ts';
import { headOf } from '../raw-request.ts';
import { readRequestId } from '../request-id.ts';
import type { Caller } from '../route.ts';

/** Bytes of a body that are handed over at most. */
export const EXCHANGE_BODY_BYTES_MAX = 16_384;

/** A request to a signed route, with its answer. Secrets are still in it. */
export interface Exchange
  extends Pick<RequestHead, 'method' | 'url' | 'headers' | 'repeated' | 'remoteAddress'> {
  requestId: string;
  /** The caller chose the request id. */
  isCallersId: boolean;
  /** The template of its route, or `unmatched`. */
  route: string;
  /** Whose key signed it; undefined where that was not verified. */
  caller: Caller | undefined;
  /** The body, or its beginning; undefined where it was not read. */
  body: string | undefined;
  bodyBytes: number;
  /** Of a refused signature: the body as received, unless it was discarded or is longer than `EXCHANGE_BODY_BYTES_MAX`. */
  refusedBody: Buffer | undefined;
  status: number;
  seconds: number;
  /** The error code that the answer carries. */
  errorCode: string | undefined;
  /** Why the signature was refused; the caller does not learn it. */
  refusal: string | undefined;
  /** The whole answer; undefined of streams and of what was not answered. */
  answer: string | undefined;
  /** When the answer was complete, by this machine's clock. */
  answeredAtMs: number;
}

/** Receives each request to a signed route after its answer was sent. `record` must return at once and never throw. */
export interface ExchangeRecorder {
  record(exchange: Exchange): void;
}

type Draft = Pick<Exchange, 'body' | 'bodyBytes' | 'refusedBody' | 'errorCode' | 'refusal' | 'answer'> & {
  raw: RawRequest;
  /** Work that reads the request goes on. */
  isRead: boolean;
};

/** Collects the exchange of each request while it is answered, and hands it to the recorder. Without one it does nothing. */
export class Exchanges {
  readonly #recorder: ExchangeRecorder | undefined;
  readonly #nowMs: () => number;
  readonly #log: Logger;
  readonly #drafts = new WeakMap<FastifyRequest, Draft>();

  constructor(recorder: ExchangeRecorder | undefined, nowMs: () => number, log: Logger) {
    this.#recorder = recorder;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Hands over what was answered before anything read it. */
  observe(app: FastifyInstance): void {
    if (this.#recorder === undefined) return;
    app.addHook('onResponse', (request, reply, done) => {
      const draft = this.#drafts.get(request) ?? draftOfUnread(request);
      if (draft?.isRead === false) this.#hand(request, reply, draft);
      done();
    });
  }

  /** Never throws: it runs in listeners of sockets, where that would end the process. */
  #hand(request: FastifyRequest, reply: FastifyReply, draft: Draft): void {
    try {
      this.#record(request, reply, draft);
    } catch (error) {
      this.#log.error({ request_id: request.id, err: error }, 'an exchange could not be recorded');
    }
  }

  #record(request: FastifyRequest, reply: FastifyReply, draft: Draft): void {
    const { raw } = draft;
    this.#recorder?.record({
      body: draft.body,
      bodyBytes: draft.bodyBytes,
      refusedBody: draft.refusedBody,
      errorCode: draft.errorCode,
      refusal: draft.refusal,
      answer: draft.answer,
      method: raw.method,
      url: raw.url,
      headers: raw.headers,
      repeated: raw.repeated,
      remoteAddress: raw.remoteAddress,
      requestId: raw.requestId,
      isCallersId: readRequestId(raw.headers['x-request-id']) === raw.requestId,
      caller: raw.caller,
      route: routeOf(request),
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
      answeredAtMs: this.#nowMs(),
    });
  }

  /** Runs the work of a signed request. The exchange is handed over when its answer is sent, or its caller has gone. */
  async during<T>(
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
    raw: RawRequest,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.#recorder === undefined) return await work();
    const draft = draftOf(raw, true);
    this.#drafts.set(request, draft);
    let isWorking = true;
    let isClosed = false;
    reply.raw.once('close', () => {
      isClosed = true;
      if (!isWorking) this.#hand(request, reply, draft);
    });
    try {
      return await work();
    } catch (error) {
      const isRefused = error instanceof Fail && error.code === 'authentication_required';
      const isAtHand = !raw.bodyIsDiscarded && raw.body.length <= EXCHANGE_BODY_BYTES_MAX;
      // A copy: the bytes are reused once the request is answered.
      if (isRefused && isAtHand) draft.refusedBody = Buffer.from(raw.body);
      throw error;
    } finally {
      isWorking = false;
      draft.bodyBytes = raw.body.length;
      if (raw.body.length > 0) draft.body = raw.body.toString('utf8', 0, EXCHANGE_BODY_BYTES_MAX);
      // The caller has gone: what became of the request is known once its answer was made in vain.
      if (isClosed) setImmediate(() => this.#hand(request, reply, draft));
    }
  }

  noteAnswer(request: FastifyRequest, answer: string): void {
    const draft = this.#drafts.get(request);
    if (draft !== undefined) draft.answer = answer;
  }

  noteFailure(request: FastifyRequest, fail: Fail, { code, answer }: { code: string; answer: string }): void {
    if (this.#recorder === undefined) return;
    const draft = this.#drafts.get(request) ?? draftOfUnread(request);
    if (draft === undefined) return;
    this.#drafts.set(request, draft);
    const { cause } = fail.details;
    const isRefused = fail.code === 'authentication_required' && typeof cause === 'string';
    Object.assign(draft, { errorCode: code, answer, refusal: isRefused ? cause : undefined });
  }
}

const draftOf = (raw: RawRequest, isRead: boolean): Draft => ({
  raw,
  isRead,
  body: undefined,
  bodyBytes: 0,
  refusedBody: undefined,
  errorCode: undefined,
  refusal: undefined,
  answer: undefined,
});

/** A request that was answered before anything read it: its body is too large, or did not come. */
function draftOfUnread(request: FastifyRequest): Draft | undefined {
  if (request.raw.headers.authorization === undefined || !isCall(request.originalUrl)) return undefined;
  try {
    return draftOf({ ...headOf(request), body: Buffer.alloc(0), bodyIsDiscarded: true }, false);
  } catch {
    return undefined;
  }
}

import { type Dispatcher, errors } from 'undici';
import { failureOfExchange, type OutboundFailure } from './failures.ts';

const BODY_BYTES_MAX = 20_480;
const KEPT_BYTES_MAX = 1_024;

/** The result of an attempt. */
export type OutboundAnswer =
  /** The header was complete: `response` is the beginning of the body, at most 1,024 bytes, as they were sent. */
  | { failure: null; status: number; response: Buffer }
  /** `sent`: bytes of the request may have left, so that the receiver may have acted on it. */
  | { failure: OutboundFailure; sent: boolean };

/** One request on one connection: undici's handler, which reads at most 20,480 bytes of the body. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<OutboundAnswer>;
  /** The answer was read to its end, so that the connection may carry another. */
  isComplete = false;
  readonly #settle: (answer: OutboundAnswer) => void;
  readonly #fail: (error: Error) => void;
  readonly #kept: Buffer[] = [];
  #isSent = false;
  #status: number | undefined;
  #bytes = 0;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<OutboundAnswer>();
    this.done = promise;
    this.#settle = resolve;
    this.#fail = reject;
  }

  onRequestStart(): void {
    this.#isSent = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const wanted = KEPT_BYTES_MAX - this.#bytes;
    // Copied, so that the whole chunk does not stay in memory.
    if (wanted > 0) this.#kept.push(Buffer.from(chunk.subarray(0, wanted)));
    this.#bytes += chunk.length;
    if (this.#bytes > BODY_BYTES_MAX) this.#finish('protocol');
  }

  onResponseEnd(): void {
    this.isComplete = this.#bytes <= BODY_BYTES_MAX;
    this.#finish('protocol');
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    // An invalid request is our mistake and not a failure of the receiver.
    if (error instanceof errors.InvalidArgumentError) this.#fail(error);
    else this.#finish(failureOfExchange(error));
  }

  /** Ends at the timeout with what was received until now. */
  cut(): void {
    this.#finish('timeout');
  }

  /** @param failure the failure if no answer began */
  #finish(failure: OutboundFailure): void {
    this.#settle(
      this.#status === undefined
        ? { failure, sent: this.#isSent }
        : { failure: null, status: this.#status, response: Buffer.concat(this.#kept) },
    );
  }
}

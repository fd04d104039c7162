import { createHmac, createSecretKey } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import { UploadBurst } from './collect-later.ts';
import type { RawRequest, RequestHead } from './pipeline.ts';
import { announcesBody, BODYLESS_METHODS, headOf, SIGNED_BODY_METHODS } from './raw-request.ts';
import { free, RoundRobin } from './upload-turns.ts';

export const BODY_BYTES_MAX = 1_048_576;
/** Bytes of the bodies of all open requests; an upload beyond it is discarded and answered 503. */
const HELD_BYTES_MAX = 256 * 1_048_576;
const BUFFER_STEP_BYTES = 16_384;
const RETRY_AFTER_SECONDS = 5;
/** A key for discarded bodies: hashing them too makes a body with an unknown key cost as much time as any other. */
const DUMMY_KEY = createSecretKey(Buffer.from('an unknown key costs the same work'));

/** Of a request's body, in bytes. */
export interface BodyLimits {
  /** A longer body is read and discarded. */
  kept: number;
  /** A longer body is refused. */
  max: number;
}

export type BodyRule = (head: RequestHead) => Promise<BodyLimits>;

/** Counts the bytes that bodies take in this process. */
export class BodyBudget {
  readonly #max: number;
  #held = 0;

  constructor(max = HELD_BYTES_MAX) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** Reserves bytes; false where the budget is exhausted. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#max) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

const NOTHING = Buffer.alloc(0);
/** Two queues, so that uploads with a known key never wait for uploads without one. */
const turns = { kept: new RoundRobin(), discarded: new RoundRobin() };
const burst = new UploadBurst();
const tooLarge = (max: number) => new Fail('body_too_large', `A body has at most ${max} bytes here.`);
const overBudget = () =>
  new Fail('service_unavailable', {
    message: 'Too many large requests are under way. Nothing was done; repeat the request.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** A body that is being received. */
interface Upload {
  payload: Readable;
  socket: Socket;
  /** Its Content-Length; 0 without one. */
  declared: number;
}

const isSmall = ({ declared }: Upload) => declared > 0 && declared <= BUFFER_STEP_BYTES;

const uploadOf = ({ raw }: FastifyRequest): Upload => ({
  payload: raw,
  socket: raw.socket,
  declared: Number(raw.headers['content-length'] ?? 0),
});

/**
 * Passes on each chunk and then waits for the connection's next turn in the queue that `take` returns.
 *
 * @throws Fail for a body that is too long, or broken off
 */
async function drain(
  { payload, socket, declared }: Upload,
  max: number,
  take: (chunk: Buffer) => RoundRobin,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > max) reject(tooLarge(max));
    const turn = length > max ? turns.discarded : take(chunk);
    free(chunk);
    if (length !== declared) turn.wait(socket);
  };
  // A caller that breaks off gets no answer, and the log must not show it as a fault of ours.
  const breakOff = () =>
    reject(new Fail('invalid_request', 'The connection was closed before the whole body arrived.'));
  payload.on('data', onData).once('end', resolve).once('error', breakOff).once('close', breakOff);
  if (payload.destroyed) breakOff();
  await promise;
}

/** Discards a body whose end no answer waits for, until the connection is closed. */
function discard({ payload, socket }: Upload): void {
  payload.on('data', (chunk: Buffer) => {
    free(chunk);
    turns.discarded.wait(socket);
  });
}

/** A body as the bytes that were signed. `release` returns its bytes to the budget. */
class HeldBody {
  readonly #budget: BodyBudget;
  #buffer: ArrayBuffer | undefined;
  #length = 0;
  #state: 'reading' | 'whole' | 'discarded' | 'over_budget' = 'reading';

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Undefined where it was discarded. */
  get bytes(): Buffer | undefined {
    if (this.#state !== 'whole') return undefined;
    return this.#buffer === undefined ? NOTHING : Buffer.from(this.#buffer, 0, this.#length);
  }

  /** Reads to the end. @throws Fail for a body that is too long, or broken off */
  async read(upload: Upload, { kept, max }: BodyLimits): Promise<void> {
    const mac = createHmac('sha256', DUMMY_KEY);
    if (kept === 0) this.#discardRest('discarded');
    if (!isSmall(upload)) burst.begin();
    try {
      await drain(upload, max, (chunk) => {
        if (this.#state === 'reading') this.#keep(chunk, upload, kept);
        else mac.update(chunk);
        return this.#state === 'reading' ? turns.kept : turns.discarded;
      });
    } catch (error) {
      this.release();
      throw error;
    } finally {
      if (!isSmall(upload)) burst.end();
    }
    if (this.#state === 'over_budget') throw overBudget();
    if (this.#state === 'reading') this.#state = 'whole';
  }

  /** Copies each chunk into one buffer: as a list, a body of a million chunks would take a hundred times its length. */
  #keep(chunk: Buffer, upload: Upload, most: number): void {
    const length = this.#length + chunk.length;
    if (length > most) {
      this.#discardRest('discarded');
      return;
    }
    const buffer = this.#bufferFor(length, upload, most);
    if (buffer === undefined) {
      this.#discardRest('over_budget');
      return;
    }
    chunk.copy(Buffer.from(buffer, this.#length, chunk.length));
    this.#length = length;
  }

  /** Undefined where the budget is exhausted. */
  #bufferFor(length: number, upload: Upload, most: number): ArrayBuffer | undefined {
    const sizeBefore = this.#buffer?.byteLength ?? 0;
    if (this.#buffer !== undefined && length <= sizeBefore) return this.#buffer;
    const isFixed = isSmall(upload) && upload.declared <= most;
    const steps = Math.ceil(length / BUFFER_STEP_BYTES);
    const size = isFixed ? upload.declared : Math.min(most, steps * BUFFER_STEP_BYTES);
    if (!this.#budget.take(size - sizeBefore)) return undefined;
    // A large buffer has memory pages of its own: it grows in place and returns to the system as a whole.
    this.#buffer ??= isFixed ? new ArrayBuffer(size) : new ArrayBuffer(0, { maxByteLength: most });
    if (this.#buffer.resizable) this.#buffer.resize(size);
    return this.#buffer;
  }

  #discardRest(state: 'discarded' | 'over_budget'): void {
    this.release();
    this.#state = state;
  }

  release(): void {
    this.#budget.giveBack(this.#buffer?.byteLength ?? 0);
    this.#buffer?.transferToFixedLength(0);
    this.#buffer = undefined;
    this.#length = 0;
    this.#state = 'discarded';
  }
}

interface Holding {
  body: HeldBody;
  /** A handler reads it and releases it at its end. */
  inUse: boolean;
  /** Its caller was answered or has disconnected. */
  isAnsweredOrGone: boolean;
}

const held = new WeakMap<FastifyRequest, Holding>();

/** @throws Fail for a request that does not name one host */
export function rawOf(request: FastifyRequest): RawRequest {
  const head = headOf(request);
  const { body } = held.get(request) ?? {};
  const bytes = body?.bytes;
  const isDiscarded = body !== undefined && bytes === undefined && SIGNED_BODY_METHODS.has(head.method);
  return { ...head, body: bytes ?? NOTHING, bodyIsDiscarded: isDiscarded };
}

/** Runs work that reads a body and releases the body afterwards, which may be after its caller has disconnected. */
export async function whileHeld<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const holding = held.get(request);
  if (holding === undefined) return await work();
  holding.inUse = true;
  try {
    return await work();
  } finally {
    holding.body.release();
  }
}

/**
 * Reads every body, whatever its content type. A body that nobody can have signed (no known key) is read and discarded,
 * so that it costs its sender more than us.
 */
export function readBodies(
  app: FastifyInstance,
  budget: BodyBudget,
  ruleOf: (request: FastifyRequest) => BodyRule,
): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request, reply, payload) => {
    if (!announcesBody(request.raw.headers)) return payload;
    if (BODYLESS_METHODS.has(request.method)) discard(uploadOf(request));
    const holding = { body: new HeldBody(budget), inUse: false, isAnsweredOrGone: false };
    held.set(request, holding);
    // No handler runs for a caller that has disconnected by then.
    reply.raw.once('close', () => {
      holding.isAnsweredOrGone = true;
      if (!holding.inUse) holding.body.release();
    });
    return payload;
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const upload = uploadOf(request);
    const refuseAbove = (max: number) => {
      if (upload.declared <= max) return;
      discard(upload);
      throw tooLarge(max);
    };
    refuseAbove(BODY_BYTES_MAX);
    const isSigned = SIGNED_BODY_METHODS.has(request.method);
    const limits = isSigned ? await ruleOf(request)(headOf(request)) : { kept: 0, max: BODY_BYTES_MAX };
    refuseAbove(limits.max);
    const holding = held.get(request);
    await holding?.body.read(upload, limits);
    if (holding?.isAnsweredOrGone) holding.body.release();
    return undefined;
  });
}

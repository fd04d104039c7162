import { createHmac, createSecretKey } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import { Flood } from './collect-later.ts';
import { free, RoundRobin } from './pieces.ts';
import type { RawRequest, RequestHead } from './pipeline.ts';
import { announcesBody, BODYLESS_METHODS, headOf, SIGNED_BODY_METHODS } from './raw-request.ts';

export const BODY_BYTES_MAX = 1_048_576;
/** Bytes of the bodies of all open requests; an upload beyond it is discarded and answered 503. */
const HELD_BYTES_MAX = 256 * 1_048_576;
const ROOM_STEP_BYTES = 16_384;
const RETRY_AFTER_SECONDS = 5;
/** A key for discarded bodies: hashing them too makes a body with an unknown key cost as much time as any other. */
const DUMMY = createSecretKey(Buffer.from('an unknown key costs the same work'));

/** Bytes of a request's body to keep at most; a longer body is read and discarded. */
export type BodyRule = (head: RequestHead) => Promise<number>;

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
/** Two lines, so that uploads with a known key never wait for uploads without one. */
const turns = { kept: new RoundRobin(), past: new RoundRobin() };
const flood = new Flood();
const tooLarge = () => new Fail('body_too_large', `A body has at most ${BODY_BYTES_MAX} bytes.`);
const noRoom = () =>
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

const isSmall = ({ declared }: Upload) => declared > 0 && declared <= ROOM_STEP_BYTES;

const uploadOf = ({ raw }: FastifyRequest): Upload => ({
  payload: raw,
  socket: raw.socket,
  declared: Number(raw.headers['content-length'] ?? 0),
});

/**
 * Passes on each piece and then waits for the connection's next turn in the line that `take` returns.
 *
 * @throws Fail for a body that is too long, or broken off
 */
async function drain(
  { payload, socket, declared }: Upload,
  take: (piece: Buffer) => RoundRobin,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  const onData = (piece: Buffer) => {
    length += piece.length;
    if (length > BODY_BYTES_MAX) reject(tooLarge());
    const line = length > BODY_BYTES_MAX ? turns.past : take(piece);
    free(piece);
    if (length !== declared) line.wait(socket);
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
  payload.on('data', (piece: Buffer) => {
    free(piece);
    turns.past.wait(socket);
  });
}

/** A body as the bytes that were signed. `release` returns its bytes to the budget. */
class HeldBody {
  readonly #budget: BodyBudget;
  #room: ArrayBuffer | undefined;
  #length = 0;
  #state: 'reading' | 'whole' | 'past' | 'full' = 'reading';

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Undefined where it was discarded. */
  get bytes(): Buffer | undefined {
    if (this.#state !== 'whole') return undefined;
    return this.#room === undefined ? NOTHING : Buffer.from(this.#room, 0, this.#length);
  }

  /** Reads to the end, keeping at most `most` bytes. @throws Fail for a body that is too long, or broken off */
  async read(upload: Upload, most: number): Promise<void> {
    const mac = createHmac('sha256', DUMMY);
    if (most === 0) this.#readPast('past');
    if (!isSmall(upload)) flood.begin();
    try {
      await drain(upload, (piece) => {
        if (this.#state === 'reading') this.#keep(piece, upload, most);
        else mac.update(piece);
        return this.#state === 'reading' ? turns.kept : turns.past;
      });
    } catch (error) {
      this.release();
      throw error;
    } finally {
      if (!isSmall(upload)) flood.end();
    }
    if (this.#state === 'full') throw noRoom();
    if (this.#state === 'reading') this.#state = 'whole';
  }

  /** Copies each piece into one buffer: as a list, a body of a million pieces would take a hundred times its length. */
  #keep(piece: Buffer, upload: Upload, most: number): void {
    const length = this.#length + piece.length;
    if (length > most) {
      this.#readPast('past');
      return;
    }
    const room = this.#roomFor(length, upload, most);
    if (room === undefined) {
      this.#readPast('full');
      return;
    }
    piece.copy(Buffer.from(room, this.#length, piece.length));
    this.#length = length;
  }

  /** Undefined where the budget is exhausted. */
  #roomFor(length: number, upload: Upload, most: number): ArrayBuffer | undefined {
    const has = this.#room?.byteLength ?? 0;
    if (this.#room !== undefined && length <= has) return this.#room;
    const isFixed = isSmall(upload) && upload.declared <= most;
    const steps = Math.ceil(length / ROOM_STEP_BYTES);
    const size = isFixed ? upload.declared : Math.min(most, steps * ROOM_STEP_BYTES);
    if (!this.#budget.take(size - has)) return undefined;
    // A large buffer has memory pages of its own: it grows in place and returns to the system as a whole.
    this.#room ??= isFixed ? new ArrayBuffer(size) : new ArrayBuffer(0, { maxByteLength: most });
    if (this.#room.resizable) this.#room.resize(size);
    return this.#room;
  }

  #readPast(state: 'past' | 'full'): void {
    this.release();
    this.#state = state;
  }

  release(): void {
    this.#budget.giveBack(this.#room?.byteLength ?? 0);
    this.#room?.transferToFixedLength(0);
    this.#room = undefined;
    this.#length = 0;
    this.#state = 'past';
  }
}

interface Holding {
  body: HeldBody;
  /** A handler reads it and releases it at its end. */
  inUse: boolean;
  /** Its caller was answered or has disconnected. */
  isOver: boolean;
}

const held = new WeakMap<FastifyRequest, Holding>();

/** @throws Fail for a request that does not name one host */
export function rawOf(request: FastifyRequest): RawRequest {
  const head = headOf(request);
  const { body } = held.get(request) ?? {};
  const bytes = body?.bytes;
  const isPast = body !== undefined && bytes === undefined && SIGNED_BODY_METHODS.has(head.method);
  return { ...head, body: bytes ?? NOTHING, bodyIsPast: isPast };
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
    const holding = { body: new HeldBody(budget), inUse: false, isOver: false };
    held.set(request, holding);
    // No handler runs for a caller that has disconnected by then.
    reply.raw.once('close', () => {
      holding.isOver = true;
      if (!holding.inUse) holding.body.release();
    });
    return payload;
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const upload = uploadOf(request);
    if (upload.declared > BODY_BYTES_MAX) {
      discard(upload);
      throw tooLarge();
    }
    const isSigned = SIGNED_BODY_METHODS.has(request.method);
    const most = isSigned ? await ruleOf(request)(headOf(request)) : 0;
    const holding = held.get(request);
    await holding?.body.read(upload, most);
    if (holding?.isOver) holding.body.release();
    return undefined;
  });
}

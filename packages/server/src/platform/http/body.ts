import { createHmac, createSecretKey } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import type { RawRequest, RequestHead } from './pipeline.ts';
import { announcesBody, headOf, SIGNED_BODY_METHODS } from './raw-request.ts';

export const BODY_BYTES_MAX = 1_048_576;
/** Of all requests that are read or answered at one time; an upload beyond it is read past and answered 503. */
const HELD_BYTES_MAX = 256 * 1_048_576;
const FIRST_ROOM_BYTES = 16_384;
const RETRY_AFTER_SECONDS = 5;
/** A secret that fits nothing: a body that nobody can have signed costs as much time as any other. */
const DUMMY = createSecretKey(Buffer.from('an unknown key costs the same work'));

/** How much of a request's body is worth keeping; what is longer is read past. */
export type BodyRule = (head: RequestHead) => Promise<number>;

/** The bytes that bodies take in this process. */
export class BodyBudget {
  readonly #max: number;
  #held = 0;

  constructor(max = HELD_BYTES_MAX) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** False where there is no room for them. */
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
const tooLarge = () => new Fail('body_too_large', `A body has at most ${BODY_BYTES_MAX} bytes.`);
const noRoom = () =>
  new Fail('service_unavailable', {
    message: 'Too many large requests are under way. Nothing was done; repeat the request.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Hands on each piece as it comes, so that none waits in memory. @throws Fail for a body that is too long, or broken off */
async function drain(payload: Readable, take: (chunk: Buffer) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= BODY_BYTES_MAX) {
      take(chunk);
      return;
    }
    payload.off('data', onData).pause();
    reject(tooLarge());
  };
  // Who breaks off hears no answer: it is no fault of ours, and none of the database.
  const breakOff = () => reject(new Fail('invalid_request', 'The body broke off.'));
  payload.on('data', onData).once('end', resolve).once('error', breakOff).once('close', breakOff);
  if (payload.destroyed) breakOff();
  await promise;
}

/** A body as the bytes that were signed. Its room is given back once nobody reads it any more. */
class HeldBody {
  readonly #budget: BodyBudget;
  #room: Buffer = NOTHING;
  #length = 0;
  #state: 'reading' | 'whole' | 'past' | 'full' = 'reading';

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Undefined where it was read past. */
  get bytes(): Buffer | undefined {
    return this.#state === 'whole' ? this.#room.subarray(0, this.#length) : undefined;
  }

  /** Reads to the end, keeping at most `most` bytes. @throws Fail for a body that is too long, or broken off */
  async read(payload: Readable, declared: number, most: number): Promise<void> {
    const mac = createHmac('sha256', DUMMY);
    if (most === 0) this.#readPast('past');
    try {
      await drain(payload, (chunk) => {
        if (this.#state === 'reading') this.#keep(chunk, declared, most);
        else mac.update(chunk);
      });
    } catch (error) {
      this.release();
      throw error;
    }
    if (this.#state === 'full') throw noRoom();
    if (this.#state === 'reading') this.#state = 'whole';
  }

  /** Copied together as it comes: a body in a million pieces would else take a hundred times its length. */
  #keep(chunk: Buffer, declared: number, most: number): void {
    const needed = this.#length + chunk.length;
    if (needed > most) {
      this.#readPast('past');
      return;
    }
    const isWhole = chunk.length === declared;
    const capacity = isWhole
      ? declared
      : Math.min(most, Math.max(needed, 2 * this.#room.length, FIRST_ROOM_BYTES));
    if (needed > this.#room.length) {
      if (!this.#budget.take(capacity - this.#room.length)) {
        this.#readPast('full');
        return;
      }
      const room = isWhole ? chunk : Buffer.allocUnsafe(capacity);
      this.#room.copy(room);
      this.#room = room;
    }
    if (!isWhole) chunk.copy(this.#room, this.#length);
    this.#length = needed;
  }

  #readPast(state: 'past' | 'full'): void {
    this.release();
    this.#state = state;
  }

  release(): void {
    this.#budget.giveBack(this.#room.length);
    this.#room = NOTHING;
    this.#length = 0;
    this.#state = 'past';
  }
}

interface Holding {
  body: HeldBody;
  /** Something reads it, and gives it back when it ends. */
  inUse: boolean;
  /** Its caller has been answered, or has gone. */
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

/** Runs what reads a body; its room is free again when that has ended, which may be after its caller has gone. */
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
 * Reads every body, whatever its type is called. What nobody can have signed is judged by its headers alone and read past
 * without being kept, so that it costs its sender more than us.
 */
export function readBodies(
  app: FastifyInstance,
  budget: BodyBudget,
  ruleOf: (request: FastifyRequest) => BodyRule,
): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request, reply, payload) => {
    if (!announcesBody(request.raw.headers)) return payload;
    const holding = { body: new HeldBody(budget), inUse: false, isOver: false };
    held.set(request, holding);
    // No handler runs for a caller who has gone by then.
    reply.raw.once('close', () => {
      holding.isOver = true;
      if (!holding.inUse) holding.body.release();
    });
    return payload;
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const declared = Number(request.raw.headers['content-length'] ?? 0);
    if (declared > BODY_BYTES_MAX) throw tooLarge();
    const isSigned = SIGNED_BODY_METHODS.has(request.method);
    const most = isSigned ? await ruleOf(request)(headOf(request)) : 0;
    const holding = held.get(request);
    await holding?.body.read(payload, declared, most);
    if (holding?.isOver) holding.body.release();
    return undefined;
  });
}

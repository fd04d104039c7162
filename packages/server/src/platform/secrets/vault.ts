import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db } from '../db/db.ts';
import { uuidBytes, uuidOf } from '../db/ids/ids.ts';

declare module '../db/db.ts' {
  interface Tables {
    data_key: { data_key_id: string; wrapped: Buffer; created_at_ms: bigint | number };
  }
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 16;
/** Fixed, so that of two nodes that create the first data key at once only one succeeds. */
const FIRST_KEY_ID = '00000000-0000-7000-8000-000000000001';

function seal(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

function open(key: Uint8Array, sealed: Buffer, context: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(sealed.length - TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
  return Buffer.concat([
    decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)),
    decipher.final(),
  ]);
}

/** The given master key does not open the data keys of this installation. */
export class WrongMasterKey extends Error {
  constructor() {
    super(
      'FLORIN_MASTER_KEY does not open the data keys of this database: it belongs to another installation',
    );
  }
}

/** @throws WrongMasterKey */
function openAll(rows: readonly { data_key_id: string; wrapped: Buffer }[], masterKey: Uint8Array) {
  try {
    return new Map(rows.map((row) => [row.data_key_id, open(masterKey, row.wrapped, row.data_key_id)]));
  } catch {
    throw new WrongMasterKey();
  }
}

/**
 * Seals and opens secrets that must be read back; no other code does. A secret is sealed (AES-256-GCM) under a data key,
 * which is stored in the database wrapped by the master key; the master key is never stored. `context` names tenant and
 * record and is authenticated, so that a sealed value that is moved to another row does not open.
 */
export class Vault {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #currentId: string;

  private constructor(keys: ReadonlyMap<string, Buffer>, currentId: string) {
    this.#keys = keys;
    this.#currentId = currentId;
  }

  /** Reads the data keys and makes the first one on an empty database. @throws WrongMasterKey */
  static async unlock(db: Db, masterKey: Uint8Array, nowMs: number): Promise<Vault> {
    const read = () =>
      db.selectFrom('data_key').selectAll().orderBy('created_at_ms').orderBy('data_key_id').execute();
    let rows = await read();
    if (rows.length === 0) {
      const id = FIRST_KEY_ID;
      const wrapped = seal(masterKey, randomBytes(KEY_BYTES), id);
      const first = { data_key_id: id, wrapped, created_at_ms: nowMs };
      await db
        .insertInto('data_key')
        .values(first)
        .onConflict((conflict) => conflict.column('data_key_id').doNothing())
        .execute();
      // Reads the winner of a race: this node must use the same first key as the others.
      rows = await read();
    }
    return new Vault(openAll(rows, masterKey), rows[0]?.data_key_id ?? '');
  }

  /** Opens the data keys that there are, and makes none. @throws WrongMasterKey */
  static async check(db: Db, masterKey: Uint8Array): Promise<void> {
    openAll(await db.selectFrom('data_key').select(['data_key_id', 'wrapped']).execute(), masterKey);
  }

  /** → data key id (16 bytes) + nonce + cipher text + tag. */
  seal(plain: Uint8Array, context: string): Buffer {
    const id = uuidBytes(this.#currentId);
    return Buffer.concat([id, seal(this.#key(this.#currentId), plain, context)]);
  }

  /** @throws Error when the value was tampered with or belongs to another record. */
  open(sealed: Buffer, context: string): Buffer {
    const id = uuidOf(sealed.subarray(0, ID_BYTES));
    return open(this.#key(id), sealed.subarray(ID_BYTES), context);
  }

  /** → data key id (16 bytes) + HMAC-SHA256 of the message, by a key of this purpose that is derived from the data key. */
  mark(message: Uint8Array, purpose: string): Buffer {
    return Buffer.concat([uuidBytes(this.#currentId), this.#hmac(this.#currentId, message, purpose)]);
  }

  /** Whether `mark` made this mark of this message. */
  isMarked(message: Uint8Array, purpose: string, mark: Buffer): boolean {
    if (mark.length !== ID_BYTES + KEY_BYTES) return false;
    const id = uuidOf(mark.subarray(0, ID_BYTES));
    return this.#keys.has(id) && timingSafeEqual(this.#hmac(id, message, purpose), mark.subarray(ID_BYTES));
  }

  #hmac(id: string, message: Uint8Array, purpose: string): Buffer {
    const key = createHmac('sha256', this.#key(id)).update(`florin-mark ${purpose}`).digest();
    return createHmac('sha256', key).update(message).digest();
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (key === undefined)
      throw new Error('a sealed value names a data key that this installation does not have');
    return key;
  }
}

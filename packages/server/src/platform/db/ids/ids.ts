import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** System rows (installation-wide settings and jobs) belong to this merchant. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

// Random bytes are drawn for hundreds of ids at once: one draw per id costs more than the rest of an id.
const pool = new Uint32Array(1024);
let drawn = pool.length;

function nextUint32(): number {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  return pool[drawn++] ?? 0;
}

const generator = new V7Generator({ nextUint32 });

/** A new time-ordered id (UUID version 7, text form as the database holds it). Ordered within this process. */
export function newId(): string {
  return generator.generate().toString();
}

/** When an id was made: Unix milliseconds of its process's clock. A greater id never has an earlier time. */
export function madeAtMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The same in Unix seconds. */
export const madeAt = (uuid: string): number => Math.floor(madeAtMs(uuid) / 1000);

/** The smallest UUID of version 7 with that time. */
export function firstIdAt(unixMs: number): string {
  const hex = unixMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The 16 bytes of a UUID. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** The UUID of 16 bytes, as the database writes it. */
export function uuidOf(bytes: Uint8Array): string {
  return dashed(Buffer.from(bytes).toString('hex'));
}

const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGITS = new Map([...ALPHABET].map((character, value) => [character, value]));
const TEXT_LENGTH = 26;

/** Ten bits as two digits. Lists have hundreds of ids, and one table access per digit measurably slows them down. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
/** The positions of the hexadecimal digits in the text of a UUID. */
const HEX_AT = [...'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'].flatMap((place, at) =>
  place === 'x' ? [at] : [],
);
/** The value of a hexadecimal digit, by its character code. */
const HEX = Uint8Array.from(
  { length: 128 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);

/** 26 base-32 digits, lower case, as TypeID writes a UUID: `01h…`. */
export function encodeUuid(uuid: string): string {
  let text = '';
  let pending = 0;
  // 128 bits are two short of 26 digits of five.
  let bits = 2;
  for (const at of HEX_AT) {
    pending = (pending << 4) | (HEX[uuid.charCodeAt(at)] ?? 0);
    bits += 4;
    if (bits < 10) continue;
    bits -= 10;
    text += PAIRS[(pending >> bits) & 1023];
    pending &= (1 << bits) - 1;
  }
  return text;
}

/** The UUID behind 26 digits; undefined for any other text. */
export function decodeUuid(digits: string): string | undefined {
  if (digits.length !== TEXT_LENGTH) return undefined;
  let value = 0n;
  for (const character of digits) {
    const digit = DIGITS.get(character);
    if (digit === undefined) return undefined;
    value = (value << 5n) | BigInt(digit);
  }
  if (value >> 128n !== 0n) return undefined;
  return dashed(value.toString(16).padStart(32, '0'));
}

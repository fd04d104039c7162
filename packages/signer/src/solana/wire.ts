import { BadEncoding } from '../rlp.ts';

const BYTE_MAX = 0x7f;
const SHORT_MAX = 0xffff;

/** Reads bytes from the first to the last. */
export class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new BadEncoding('it ends early');
    const taken = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return taken;
  }

  byte(): number {
    const [byte = 0] = this.take(1);
    return byte;
  }

  /** A length as Solana writes it: 7 bits in each byte, the lowest first, up to 16 bits. */
  length(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      if (byte === 0 && shift > 0) throw new BadEncoding('a length is not in its shortest form');
      value |= (byte & BYTE_MAX) << shift;
      if (value > SHORT_MAX) throw new BadEncoding('a length has more than 16 bits');
      if (byte <= BYTE_MAX) return value;
      if (shift === 14) throw new BadEncoding('a length has more than 16 bits');
    }
  }

  /** A list, its length first. */
  list<T>(read: () => T): T[] {
    return Array.from({ length: this.length() }, read);
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new BadEncoding('there are bytes behind the end');
  }
}

/** @throws RangeError above 16 bits */
export function writeLength(length: number): Uint8Array {
  if (length > SHORT_MAX) throw new RangeError('a length has 16 bits');
  if (length <= BYTE_MAX) return Uint8Array.of(length);
  if (length <= 0x3fff) return Uint8Array.of((length & BYTE_MAX) | 0x80, length >> 7);
  return Uint8Array.of((length & BYTE_MAX) | 0x80, ((length >> 7) & BYTE_MAX) | 0x80, length >> 14);
}

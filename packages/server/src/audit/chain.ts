import { createHash } from 'node:crypto';
import type { AuditRow } from './tables.ts';

// The chain of hashes of one merchant, without I/O: what a row's hash covers, and what is wrong with rows that were read.

const FORMAT = 'florin-audit-v1';
const HASH_BYTES = 32;

/** The hash before the first row. */
export const NO_HASH = Buffer.alloc(HASH_BYTES);

export type Unhashed = Omit<AuditRow, 'hash' | 'seal'>;

/** SHA-256 of a JSON array of all that the row says: no two rows have the same text. */
export function hashOf(row: Unhashed): Buffer {
  const fields = [
    FORMAT,
    row.merchant_id,
    String(row.number),
    String(row.at_ms),
    row.actor_kind,
    row.actor,
    row.origin,
    row.action,
    row.phase,
    row.attempt === null ? null : String(row.attempt),
    row.request_id,
    row.details,
    row.previous_hash.toString('hex'),
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest();
}

/** The newest row, as it is known from elsewhere. */
export interface Head {
  number: bigint;
  hash: Buffer;
}

export interface ChainFault {
  number: bigint;
  /**
   * `changed`: the row is not as it was written. `missing`: there is no row of this number. `unlinked`: it follows another
   * row than the one before it. `head`: the newest row is not the one that was written last.
   */
  fault: 'changed' | 'missing' | 'unlinked' | 'head';
}

/** Whether the seal of a hash is ours. */
type IsSealed = (row: AuditRow) => boolean;

/** Reads the rows of one merchant by their number and says what is wrong with them. */
export class ChainCheck {
  readonly #isSealed: IsSealed;
  readonly faults: ChainFault[] = [];
  #last: Head = { number: 0n, hash: NO_HASH };

  constructor(isSealed: IsSealed) {
    this.#isSealed = isSealed;
  }

  get head(): Head {
    return this.#last;
  }

  add(row: AuditRow): void {
    const expected = this.#last.number + 1n;
    // A gap is one fault, however many rows it had: each of a million would help nobody.
    if (row.number !== expected) this.faults.push({ number: expected, fault: 'missing' });
    if (!hashOf(row).equals(row.hash) || !this.#isSealed(row))
      this.faults.push({ number: row.number, fault: 'changed' });
    else if (row.number === expected && !row.previous_hash.equals(this.#last.hash))
      this.faults.push({ number: row.number, fault: 'unlinked' });
    this.#last = { number: row.number, hash: row.hash };
  }

  /** @param head the newest row; undefined: none was ever written */
  end(head: Head | undefined): ChainFault[] {
    const { number, hash } = head ?? { number: 0n, hash: NO_HASH };
    if (number > this.#last.number) this.faults.push({ number: this.#last.number + 1n, fault: 'missing' });
    else if (number < this.#last.number || !hash.equals(this.#last.hash))
      this.faults.push({ number: this.#last.number, fault: 'head' });
    return this.faults;
  }
}

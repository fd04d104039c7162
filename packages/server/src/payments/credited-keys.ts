import { hash } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../platform/db.ts';

const BATCH = 5_000;

/**
 * The names of all credited transfers of a network, each as 64 bits of a hash: a merchant may have millions, and who is
 * asked about names a few.
 */
export class CreditedKeys {
  readonly #hashes: BigInt64Array;

  private constructor(hashes: BigInt64Array) {
    this.#hashes = hashes.sort();
  }

  /** As of the transaction. Charges are left out: they lie in the hot wallet, at no address that is scanned. */
  static async read(db: Db, merchantId: string, network: Network): Promise<CreditedKeys> {
    let hashes = new BigInt64Array(BATCH);
    let count = 0;
    for (let after = { tx_id: '', index: 0 }; ; ) {
      const { rows } = await sql<{ tx_id: string; index: number }>`
        select tx_id, index from payment_transaction
        where merchant_id = ${merchantId} and network = ${network} and status = 'final' and lost_at is null
          and not pulled and (tx_id, index) > (${after.tx_id}, ${after.index})
        order by tx_id, index limit ${BATCH}`.execute(db);
      if (count + rows.length > hashes.length) hashes = grown(hashes);
      for (const row of rows) hashes[count++] = hashOf(`${row.tx_id}/${row.index}`);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return new CreditedKeys(hashes.slice(0, count));
      after = last;
    }
  }

  /** @param key `<tx_id>/<index>` */
  has(key: string): boolean {
    const wanted = hashOf(key);
    let [from, to] = [0, this.#hashes.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const hash = this.#hashes[middle];
      if (hash === wanted) return true;
      if (hash !== undefined && hash < wanted) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

function grown(hashes: BigInt64Array): BigInt64Array<ArrayBuffer> {
  const larger = new BigInt64Array(hashes.length * 2);
  larger.set(hashes);
  return larger;
}

const hashOf = (key: string) => hash('sha256', key, 'buffer').readBigInt64LE();

import { hash } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';

/** Each is 8 bytes; its name is as long as its network makes it, and never leaves the database. */
const BATCH = 20_000;

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
    const batches: Buffer[] = [];
    for (let after: Name | undefined = { tx_id: '', index: 0 }; after !== undefined; ) {
      const batch = await readBatch(db, { merchantId, network, after });
      batches.push(batch.hashes);
      after = batch.last;
    }
    const bytes = Buffer.concat(batches);
    return new CreditedKeys(new BigInt64Array(new Uint8Array(bytes).buffer));
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

interface Place {
  merchantId: string;
  network: Network;
  after: Name;
}

interface Name {
  tx_id: string;
  index: number;
}

/** Those after a name, in the order of names; without `last` where there are none. */
async function readBatch(
  db: Db,
  { merchantId, network, after }: Place,
): Promise<{ hashes: Buffer; last: Name | undefined }> {
  const { rows } = await sql<Name & { hashes: Buffer }>`
    with batch as materialized (
      select tx_id, index from payment_transaction
      where merchant_id = ${merchantId} and network = ${network} and status = 'final' and lost_at is null
        and not pulled and (tx_id, index) > (${after.tx_id}, ${after.index})
      order by tx_id, index limit ${BATCH}
    )
    select tx_id, index, (
      select string_agg(substr(sha256(convert_to(tx_id || '/' || index, 'utf8')), 1, 8), '') from batch
    ) as hashes
    from batch order by tx_id desc, index desc limit 1`.execute(db);
  const [last] = rows;
  return { hashes: last?.hashes ?? Buffer.alloc(0), last };
}

/** The same as the statement makes. */
const hashOf = (key: string) => hash('sha256', key, 'buffer').readBigInt64LE();

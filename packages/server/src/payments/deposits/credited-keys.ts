import { hash } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';

/** Rows per query. Each returns 8 bytes; transaction ids stay in the database. */
const BATCH = 20_000;

/**
 * The set of all credited transfers of a network, as a sorted array of 64-bit hashes: a merchant may have millions, and
 * only a few are looked up.
 */
export class CreditedKeys {
  readonly #hashes: BigInt64Array;

  private constructor(hashes: BigInt64Array) {
    this.#hashes = hashes.sort();
  }

  /** As of the transaction. Charges are left out: their coins are in the hot wallet, at no scanned address. */
  static async read(db: Db, merchantId: string, network: Network): Promise<CreditedKeys> {
    const batches: Buffer[] = [];
    for (let after: TransferName | undefined = { tx_id: '', index: 0 }; after !== undefined; ) {
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

interface BatchStart {
  merchantId: string;
  network: Network;
  after: TransferName;
}

interface TransferName {
  tx_id: string;
  index: number;
}

/** The next batch after a transfer, ordered by name; `last` is undefined at the end. */
async function readBatch(
  db: Db,
  { merchantId, network, after }: BatchStart,
): Promise<{ hashes: Buffer; last: TransferName | undefined }> {
  const { rows } = await sql<TransferName & { hashes: Buffer }>`
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

/** Must equal the hash in the SQL of `readBatch`. */
const hashOf = (key: string) => hash('sha256', key, 'buffer').readBigInt64LE();

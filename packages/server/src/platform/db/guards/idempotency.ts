import { createHash } from 'node:crypto';
import { Fail } from '../../fail.ts';
import type { Tx } from '../db.ts';
import { prepared } from '../statements/statement.ts';

declare module '../db.ts' {
  interface Tables {
    idempotency_key: {
      merchant_id: string;
      operation: string;
      key: string;
      digest: Buffer;
      store_id: string;
      resource_id: string;
      created_at: bigint | number;
    };
  }
}

export interface IdempotencyClaim {
  merchantId: string;
  /** Keys are separate for each operation: one key may create a batch and a subscription. */
  operation: string;
  key: string;
  /** Digest of the parsed body as sent. */
  digest: Buffer;
  storeId: string;
  /** The id of the resource if this request is the first. */
  resourceId: string;
  nowSeconds: number;
  /** The key's name in the API: the header `Idempotency-Key`, unless it is a field of the body. */
  param?: string;
}

export interface ClaimedKey {
  first: boolean;
  resourceId: string;
  storeId: string;
}

/** The value with sorted keys. Key order and white space do not make a different request; array order does. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  // The body parser refuses keys that an object cannot hold as its own.
  const ordered: Record<string, unknown> = {};
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, field] of fields) ordered[key] = inOrder(field);
  return ordered;
}

/** SHA-256 of a parsed body. It binds an idempotency key to its request. */
export function bodyDigest(body: unknown): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(body)))
    .digest();
}

/**
 * Claims a key in the transaction of its effect, so that both are committed or neither is. A second request with the
 * same key waits here for the first one's transaction (at most the session's lock timeout: then 503) and gets its
 * resource.
 *
 * @throws Fail `conflict` if the key was used with other parameters
 */
export async function claimKey(tx: Tx, claim: IdempotencyClaim): Promise<ClaimedKey> {
  const inserted = await prepared<{ resource_id: string }>`
    insert into idempotency_key (merchant_id, operation, key, digest, store_id, resource_id, created_at)
    values (${claim.merchantId}, ${claim.operation}, ${claim.key}, ${claim.digest}, ${claim.storeId},
            ${claim.resourceId}, ${claim.nowSeconds})
    on conflict (merchant_id, operation, key) do nothing
    returning resource_id`.execute(tx);
  if (inserted.rows.length > 0) return { first: true, resourceId: claim.resourceId, storeId: claim.storeId };
  // Read committed: this statement sees the row for which the insert above has waited.
  const known = await tx
    .selectFrom('idempotency_key')
    .select(['digest', 'resource_id', 'store_id'])
    .where('merchant_id', '=', claim.merchantId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .executeTakeFirstOrThrow();
  if (!known.digest.equals(claim.digest)) {
    const { param = 'Idempotency-Key' } = claim;
    const message = `This ${param} was used with other parameters. Use a new one for a new request.`;
    throw new Fail('conflict', { message, param });
  }
  return { first: false, resourceId: known.resource_id, storeId: known.store_id };
}

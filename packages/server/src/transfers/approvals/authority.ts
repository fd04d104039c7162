import { sql } from 'kysely';
import type { Authority, SignedApproval } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { unblockGroup } from '../attempts/blocked-attempts.ts';
import '../tables.ts';

/** The approvals of a payout batch or refund. An approver's newer one replaces the one before. */
export async function readApprovals(
  db: Db,
  merchantId: string,
  { kind, id }: Pick<Authority, 'kind' | 'id'>,
): Promise<SignedApproval[]> {
  const rows = await db
    .selectFrom('signed_approval')
    .select(['approver', 'valid_until', 'signature'])
    .where('merchant_id', '=', merchantId)
    .where('kind', '=', kind)
    .where('owner_id', '=', id)
    .orderBy('approver')
    .execute();
  return rows.map(({ approver, valid_until: until, signature }) => ({
    approver,
    validUntil: Number(until),
    signature,
  }));
}

/**
 * Keeps an approver's signature for the signer. The caller has checked it; the signer checks it again. What waits for
 * approvals is tried again at once.
 *
 * @param approval of the payout batch or refund `id`; `statementDigest`: SHA-256 of the signed statement
 */
export async function storeApproval(
  tx: Tx,
  merchantId: string,
  approval: SignedApproval & Pick<Authority, 'kind' | 'id'> & { statementDigest: Buffer },
  now: { seconds: number; realMs: number },
): Promise<void> {
  const { kind, id } = approval;
  await sql`
    insert into signed_approval (merchant_id, kind, owner_id, approver, statement_digest, valid_until, signature, created_at)
    values (${merchantId}, ${kind}, ${id}, ${approval.approver}, ${approval.statementDigest}, ${approval.validUntil},
            ${approval.signature}, ${now.seconds})
    on conflict (merchant_id, kind, owner_id, approver) do update set statement_digest = excluded.statement_digest,
      valid_until = excluded.valid_until, signature = excluded.signature, created_at = excluded.created_at`.execute(
    tx,
  );
  await unblockGroup(tx, merchantId, id, now.realMs);
}

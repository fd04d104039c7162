import type { Authority, SignedApproval } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { unblockGroup } from '../attempts/blocked-attempts.ts';
import '../../stores/approvers/index.ts';
import '../tables.ts';

type Named = Pick<Authority, 'kind' | 'id'>;

const hexOf = (bytes: Buffer) => `0x${bytes.toString('hex')}`;
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');

/** An approval as it is kept. */
export interface KeptApproval extends Omit<SignedApproval, 'key'> {
  approverId: string | null;
  decision: 'approve' | 'reject';
  /** By which it was checked; null for one from before it was kept. */
  publicKey: string | null;
  /** Whether whoever gave it is an approver still, and has that key or passkey. */
  counts: boolean;
  createdAt: number;
}

/** All approvals and rejections of a payout batch or refund that were signed. An approver's newer one replaces the one before. */
export async function listKept(db: Db, merchantId: string, { kind, id }: Named): Promise<KeptApproval[]> {
  const rows = await db
    .selectFrom('signed_approval as kept')
    .leftJoin('approver', (join) =>
      join
        .onRef('approver.merchant_id', '=', 'kept.merchant_id')
        .onRef('approver.approver_id', '=', 'kept.approver_id')
        .on('approver.removed_at', 'is', null),
    )
    // A removed passkey may be in other hands.
    .leftJoin('console_passkey as passkey', (join) =>
      join
        .onRef('passkey.credential_id', '=', 'kept.credential_id')
        .onRef('passkey.user_id', '=', 'approver.user_id'),
    )
    .selectAll('kept')
    .select(['approver.approver_id as present', 'approver.public_key as present_key'])
    .select('passkey.credential_id as present_passkey')
    .where('kept.merchant_id', '=', merchantId)
    .where('kept.kind', '=', kind)
    .where('kept.owner_id', '=', id)
    .orderBy('kept.approver')
    .execute();
  return rows.map((row) => {
    const { authenticator_data: data, client_data_json: client } = row;
    const isPasskey = data !== null && client !== null;
    return {
      approver: row.approver,
      validUntil: Number(row.valid_until),
      signature: row.signature,
      ...(isPasskey && { passkey: { authenticatorData: hexOf(data), clientDataJSON: hexOf(client) } }),
      approverId: row.approver_id,
      decision: row.decision,
      publicKey: row.public_key,
      counts:
        row.present !== null &&
        row.public_key !== null &&
        (isPasskey ? row.present_passkey !== null : row.present_key === row.public_key),
      createdAt: Number(row.created_at),
    };
  });
}

/** What the signer is shown: approvals of those who are approvers still, by the keys that they have. */
export async function readApprovals(db: Db, merchantId: string, named: Named): Promise<SignedApproval[]> {
  const kept = await listKept(db, merchantId, named);
  return kept.filter(({ counts, decision }) => counts && decision === 'approve').flatMap(shownOf);
}

/** As the signer is shown it; nothing of one whose key was not kept. */
export function shownOf({
  approver,
  validUntil,
  signature,
  publicKey,
  passkey,
}: KeptApproval): SignedApproval[] {
  if (publicKey === null) return [];
  return [{ approver, validUntil, signature, key: publicKey, ...(passkey !== undefined && { passkey }) }];
}

/** An approval to keep, of the payout batch or refund `id`. */
export interface NewApproval extends Omit<SignedApproval, 'key'>, Named {
  approverId: string;
  decision: 'approve' | 'reject';
  publicKey: string;
  credentialId: Buffer | null;
  /** SHA-256 of the signed statement. */
  statementDigest: Buffer;
}

/**
 * Keeps what an approver has signed. The caller has checked it; the signer checks it again. What waits for approvals is
 * tried again at once, unless the one before counts as much.
 *
 * @param isRenewed the approver's earlier one counts
 */
export async function storeApproval(
  tx: Tx,
  merchantId: string,
  approval: NewApproval,
  { seconds, realMs, isRenewed = false }: { seconds: number; realMs: number; isRenewed?: boolean },
): Promise<void> {
  const { kind, id, approver, passkey } = approval;
  const content = {
    statement_digest: approval.statementDigest,
    valid_until: approval.validUntil,
    signature: approval.signature,
    created_at: seconds,
    approver_id: approval.approverId,
    decision: approval.decision,
    public_key: approval.publicKey,
    credential_id: approval.credentialId,
    authenticator_data: passkey === undefined ? null : bytesOf(passkey.authenticatorData),
    client_data_json: passkey === undefined ? null : bytesOf(passkey.clientDataJSON),
  };
  await tx
    .insertInto('signed_approval')
    .values({ merchant_id: merchantId, kind, owner_id: id, approver, ...content })
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'kind', 'owner_id', 'approver']).doUpdateSet(content),
    )
    .execute();
  if (!isRenewed) await unblockGroup(tx, merchantId, id, realMs);
}

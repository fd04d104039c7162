import type { Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import { type Role, roleNamed } from '../roles.ts';
import { digestOf, makeToken } from './secrets.ts';

const HOUR_MS = 3_600_000;
const VALID_MS = { invitation: 7 * 24 * HOUR_MS, sign_in: HOUR_MS } as const;

export interface LinkInput {
  userId: string;
  kind: keyof typeof VALID_MS;
  merchantId: string | null;
  role: string | null;
  madeBy: string | null;
}

/** @returns the secret of the link, shown once */
export async function makeLink(
  tx: Tx,
  { userId, kind, merchantId, role, madeBy }: LinkInput,
  nowMs: number,
): Promise<{ token: string; expiresAtMs: number }> {
  const token = makeToken();
  const expiresAtMs = nowMs + VALID_MS[kind];
  await tx
    .insertInto('console_link')
    .values({
      digest: digestOf(token),
      user_id: userId,
      kind,
      merchant_id: merchantId,
      role,
      made_by: madeBy,
      created_at_ms: nowMs,
      expires_at_ms: expiresAtMs,
      used_at_ms: null,
    })
    .execute();
  return { token, expiresAtMs };
}

/**
 * Deletes unused links for a person or made by one, of one merchant or of all. Nobody named: not every link is meant.
 *
 * @returns whether there was one
 */
export async function dropLinks(
  tx: Tx,
  {
    merchantId,
    userId,
    madeBy,
  }: { merchantId?: string } & ({ userId: string; madeBy?: never } | { userId?: never; madeBy: string }),
): Promise<boolean> {
  invariant(userId !== undefined || madeBy !== undefined, 'links of somebody are dropped');
  let links = tx.deleteFrom('console_link').where('used_at_ms', 'is', null);
  if (merchantId !== undefined) links = links.where('merchant_id', '=', merchantId);
  if (userId !== undefined) links = links.where('user_id', '=', userId);
  if (madeBy !== undefined) links = links.where('made_by', '=', madeBy);
  return (await links.executeTakeFirst()).numDeletedRows > 0n;
}

/** The roles of a merchant that unused links would give a person. */
export async function pendingRoles(
  tx: Tx,
  { merchantId, userId, nowMs }: { merchantId: string; userId: string; nowMs: number },
): Promise<Role[]> {
  const rows = await tx
    .selectFrom('console_link as l')
    .leftJoin('console_role as r', (join) =>
      join.onRef('r.merchant_id', '=', 'l.merchant_id').onRef('r.name', '=', 'l.role'),
    )
    .select(['l.role', 'r.permissions'])
    .where('l.user_id', '=', userId)
    .where('l.merchant_id', '=', merchantId)
    .where('l.used_at_ms', 'is', null)
    .where('l.expires_at_ms', '>', BigInt(nowMs))
    .execute();
  return rows.flatMap(({ role, permissions }) => (role === null ? [] : [roleNamed(role, permissions)]));
}

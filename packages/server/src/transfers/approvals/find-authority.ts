import type { Authority } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';

/**
 * The payout batch or refund whose items a group of transfers pays, and its approvals: what a signer compares a transaction
 * with. Modules above this one know them, so `app.ts` injects the function.
 *
 * @returns undefined for groups that pay nobody: sweeps, charges
 */
export type FindAuthority = (
  db: Db,
  merchantId: string,
  group: { ownerType: string; groupId: string },
) => Promise<Authority | undefined>;

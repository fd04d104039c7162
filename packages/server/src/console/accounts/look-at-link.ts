import { NIL_ID } from '../../platform/db/ids/index.ts';
import { transact } from '../../platform/db/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { findLink, roleOfInvitation } from './find-link.ts';
import { readMembers } from './members.ts';
import { addressesOf, type ConsoleDeps } from './users.ts';

/** What the holder of a link is told before they use it. */
export interface LinkPurpose {
  kind: 'invitation' | 'sign_in';
  email: string;
  /** What redeeming it takes: who is new sets a password, who is known gives theirs, with a code where they have one. */
  needs: 'nothing' | 'new_password' | 'password';
  /** Null where the link gives no role, or one of the installation. */
  merchantName: string | null;
  role: string | null;
  /** An e-mail address. Null for the command line, and for an operator without a role at the merchant. */
  invitedBy: string | null;
}

/**
 * Says what a link is for, so that its page asks for that and nothing else. The link is not used up. A link that `redeemLink`
 * would refuse for any password is refused here, too. Its secret is too long to guess, so no tries are counted.
 *
 * @throws Fail `authentication_required`, as `redeemLink`
 */
export async function lookAtLink(deps: ConsoleDeps, token: string): Promise<LinkPurpose> {
  const { link, user, isNew } = await findLink(deps, token);
  const { kind, merchant_id: merchantId, made_by: madeBy } = link;
  const given = await transact(deps.db, async (tx) =>
    roleOfInvitation(tx, link, merchantId === null ? undefined : await readMembers(tx, merchantId)),
  );
  const merchant =
    merchantId === null || merchantId === NIL_ID ? undefined : await getMerchant(deps.db, merchantId);
  const [inviter] = await addressesOf(deps.db, merchantId ?? NIL_ID, madeBy === null ? [] : [madeBy]);
  return {
    kind,
    email: user.email,
    needs: kind === 'sign_in' ? 'nothing' : isNew ? 'new_password' : 'password',
    merchantName: merchant?.name ?? null,
    role: given?.role.name ?? null,
    invitedBy: inviter?.email ?? null,
  };
}

import { queuePeopleMail } from '../../../mail/people/index.ts';
import { newId } from '../../../platform/db/ids/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { getMerchant } from '../../../stores/index.ts';
import { encodeId, merchantTime } from '../../../tenancy/index.ts';
import { resetFactors } from '../reset-factors.ts';
import { digestOf, makeToken } from '../secrets.ts';
import { countTry } from '../tries.ts';
import { type ConsoleDeps, checkEmail, getUser, type Invitation, inviteUser } from '../users.ts';

// People hear by mail that they are invited, and that somebody took their factors away. What is kept of an invitation's link is
// its digest: the secret is made while the mail is sent, so a backup opens nothing.

export type PeopleMailDeps = ConsoleDeps & {
  /** Undefined: nothing is sent, and links are handed over by whoever made them. */
  mailServer: object | undefined;
};

const pathOf = (token: string) => `/console/link#${token}`;

/** So many invitations go to an address and come from a merchant: nobody floods a mailbox, whoever they invite. */
const admitsInvitation = async (tx: Tx, merchantId: string, email: string, nowMs: number) =>
  (await countTry(tx, 'mail_from', merchantId, nowMs)) && (await countTry(tx, 'mail_to', email, nowMs));

/** Who invites from the command line, in words for whoever is invited. */
const OPERATOR = 'The operator of this service';

/** A merchant whose people are mailed, and from whom; undefined: the command line. */
async function senderOf(deps: PeopleMailDeps, merchantId: string, by: string | undefined) {
  const merchant = await getMerchant(deps.db, merchantId);
  const inviter = by === undefined ? OPERATOR : (await getUser(deps.db, by)).email;
  return { ...merchantTime(deps, merchant), merchantId, merchantName: merchant.name, inviter };
}

/** An invitation of which nobody sees the link but its reader. */
type Mailed = Omit<Invitation, 'token'> & { token: null };

/**
 * As `inviteUser`, by mail where there is a mail server. Where there is none, or too many mails went to that address, the link
 * is for whoever invites to hand over. The mailbox of a sandbox has it as well.
 *
 * @param by the user who invites; undefined for the command line
 */
export async function inviteByMail(
  deps: PeopleMailDeps,
  input: Parameters<typeof inviteUser>[1],
  by?: string,
): Promise<Invitation | Mailed> {
  const email = checkEmail(input.email);
  const { inviter, ...sender } = await senderOf(deps, input.merchantId, by);
  const hasMailbox = !sender.livemode || deps.mailServer !== undefined;
  const nowMs = deps.clock.nowMs();
  const mail = { isQueued: false };
  const queue = async (tx: Tx, { token, userId, role }: Invitation) => {
    mail.isQueued = await admitsInvitation(tx, input.merchantId, email, nowMs);
    if (!mail.isQueued) return;
    await queuePeopleMail(tx, deps.vault, sender, {
      kind: 'invitation',
      about: encodeId('user', userId),
      cause: digestOf(token).toString('hex'),
      to: email,
      values: { inviter, role },
      path: pathOf(token),
    });
  };
  const made = await inviteUser(deps, input, by, hasMailbox ? queue : undefined);
  return mail.isQueued && sender.livemode ? { ...made, token: null } : made;
}

/**
 * Another secret for the link of an invitation that is being mailed.
 *
 * @param cause of the mail: the digest of the secret before
 * @returns undefined where the link was used, withdrawn or replaced, or has ended
 */
export async function renewLink(
  tx: Tx,
  cause: string,
  nowMs: number,
): Promise<{ cause: string; path: string } | undefined> {
  const token = makeToken();
  const digest = digestOf(token);
  const { numUpdatedRows } = await tx
    .updateTable('console_link')
    .set({ digest })
    .where('digest', '=', Buffer.from(cause, 'hex'))
    .where('used_at_ms', 'is', null)
    .where('expires_at_ms', '>', BigInt(nowMs))
    .executeTakeFirst();
  return numUpdatedRows === 0n ? undefined : { cause: digest.toString('hex'), path: pathOf(token) };
}

/** As `resetFactors`; the person hears of it by mail, whoever did it. */
export async function resetFactorsByMail(
  deps: PeopleMailDeps,
  input: Parameters<typeof resetFactors>[1],
  by: string,
): Promise<void> {
  const { inviter, ...sender } = await senderOf(deps, input.merchantId, by);
  const nowMs = deps.clock.nowMs();
  await resetFactors(deps, input, by, async (tx) => {
    if (!(await countTry(tx, 'mail_reset', input.userId, nowMs))) return;
    const { email } = await getUser(tx, input.userId);
    await queuePeopleMail(tx, deps.vault, sender, {
      kind: 'factors_reset',
      about: encodeId('user', input.userId),
      cause: newId(),
      to: email,
      values: { inviter },
    });
  });
}

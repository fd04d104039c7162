import type { App } from '../app.ts';
import { endAllSessions, links, passkeys, users } from '../console/accounts/index.ts';
import { inviteByMail, linkOf } from '../console/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId } from '../tenancy/index.ts';
import { merchantBy } from './context.ts';

/** Of a merchant, or of the installation. */
export interface UserScope {
  merchant?: string | undefined;
  installation?: boolean | undefined;
}

interface Inviting extends UserScope {
  email: string;
  role: string;
  /** The link is wanted here, also where there is a mail server. */
  link?: boolean | undefined;
}

const NO_ADDRESS =
  'FLORIN_PUBLIC_URL is missing: links begin with the address at which browsers reach this service, and passkeys belong to it.';

async function policyLineOf(app: App, userId: string, { rpID, origin }: { rpID: string; origin: string }) {
  const { email: name } = await users.getUser(app.db, userId);
  const known = await passkeys.listPublicKeys(app, userId);
  if (known.length === 0)
    throw new Fail('resource_not_found', `${name} has no passkey: they add one at /console/account.`);
  return {
    name,
    passkeys: known.map(({ key }) => ({ key, rp_id: rpID, origin })),
    fingerprints: known.map(({ name: passkey, fingerprint }) => ({ passkey, fingerprint })),
  };
}

/** @param baseUrl what links begin with; it is asked for only where a link is made */
export function userCommands(app: App, baseUrl: string | undefined) {
  const checkedUrl = () => {
    if (baseUrl === undefined)
      throw new Fail('invalid_request', { message: NO_ADDRESS, param: 'public-url' });
    return baseUrl;
  };
  const scopeOf = async ({ merchant, installation }: UserScope) => {
    if (installation !== true) return (await merchantBy(app, merchant)).merchantId;
    if (merchant === undefined) return NIL_ID;
    const message = 'A role is of one merchant or of the installation.';
    throw new Fail('invalid_request', { message, param: 'merchant' });
  };
  const userBy = async (email: string) => {
    const user = await users.findUserByEmail(app.db, users.normalEmail(email));
    if (user !== undefined) return user.user_id;
    throw new Fail('resource_not_found', `There is no user ${email}.`);
  };
  return {
    /** The link is returned only here, and not where it goes by mail. */
    invite: async ({ email, role, link: wantsLink, ...scope }: Inviting) => {
      const linkUrl = checkedUrl();
      const merchantId = await scopeOf(scope);
      // A mail is one of a merchant: the people of the installation get none.
      const isMailed = wantsLink !== true && merchantId !== NIL_ID;
      const made = await (isMailed ? inviteByMail : users.inviteUser)(app, { merchantId, email, role });
      return {
        user_id: encodeId('user', made.userId),
        email: made.email,
        role: made.role,
        link_token: made.token === null ? null : linkOf(linkUrl, made.token),
        expires_at: isoOf(made.expiresAtMs),
      };
    },
    list: async (scope: UserScope) =>
      (await users.listUsers(app, await scopeOf(scope))).map((user) => ({
        user_id: encodeId('user', user.userId),
        email: user.email,
        role: user.role,
        status: user.isInvited ? 'invited' : 'active',
        second_factor: user.hasSecondFactor,
      })),
    role: async ({ email, role, ...scope }: UserScope & { email: string; role: string }) => {
      await users.changeRole(app, { merchantId: await scopeOf(scope), userId: await userBy(email), role });
      return { email: users.normalEmail(email), role };
    },
    remove: async ({ email, ...scope }: UserScope & { email: string }) => {
      await users.changeRole(app, {
        merchantId: await scopeOf(scope),
        userId: await userBy(email),
        role: null,
      });
      return { email: users.normalEmail(email), removed: true };
    },
    /** Signs a person in, also one who has lost password or second factor. */
    signInLink: async (email: string) => {
      const linkUrl = checkedUrl();
      const { token, expiresAtMs } = await links.makeSignInLink(app, email);
      return { link_token: linkOf(linkUrl, token), expires_at: isoOf(expiresAtMs) };
    },
    /** The passkeys of a person, as the signer's policy names an approver. */
    passkeys: async (email: string) => {
      const page = passkeys.relyingParty(checkedUrl());
      return await policyLineOf(app, await userBy(email), page);
    },
    /** After a backup was put back, which may hold sessions that were ended since. */
    signOutAll: async () => ({ ended: await endAllSessions(app.db, app.clock.nowMs()) }),
  };
}

import { TOTP } from 'otpauth';
import { afterAll, beforeAll } from 'vitest';
import { openPlatform } from '../../../../../test/platform.ts';
import type { Platform } from '../../platform/platform.ts';
import { createMerchant } from '../../stores/index.ts';
import { beginTotp, confirmTotp } from './factors.ts';
import { redeemLink } from './links.ts';
import { findSession, type NewSession } from './sessions.ts';
import { type SignIn, signIn } from './sign-in.ts';
import { inviteUser } from './users.ts';

export const PASSWORD = 'gravel-otter-lantern';

export const opened = (session: SignIn): NewSession => {
  if (session === 'code_required') throw new Error('a code is missing');
  return session;
};

/** The session of a person who acts in it. */
export const acting = ({ userId, sessionId }: NewSession) => ({
  userId,
  sessionId,
  remoteAddress: '10.200.0.1',
});

let address = 0;

/** Each at an address of its own: tries from one count together. */
export const device = () => {
  address += 1;
  return { remoteAddress: `10.0.${address >> 8}.${address & 255}`, userAgent: 'Browser' };
};

/** People of a database for the tests of a file. */
export function usePeople() {
  let opening: Awaited<ReturnType<typeof openPlatform>> | undefined;
  let person = 0;
  beforeAll(async () => {
    opening = await openPlatform();
  });
  afterAll(() => opening?.close());
  const platform = (): Platform => {
    if (opening === undefined) throw new Error('the database is opened before the tests');
    return opening.platform;
  };
  const newMerchant = async () =>
    (await createMerchant(platform(), { name: 'M', mode: 'sandbox' })).merchantId;
  const newEmail = () => {
    person += 1;
    return `person${person}@example.com`;
  };
  const newPerson = async (role = 'owner', merchantId?: string) => {
    const of = merchantId ?? (await newMerchant());
    const email = newEmail();
    const { token, userId } = await inviteUser(platform(), { merchantId: of, email, role });
    const session = opened(await redeemLink(platform(), { token, password: PASSWORD }, device()));
    return { merchantId: of, email, userId, session };
  };
  /** By a clock that the test moves. */
  const later = () => {
    let nowMs = platform().clock.nowMs();
    const clock = Object.assign(Object.create(platform().clock), { nowMs: () => nowMs });
    return { deps: { ...platform(), clock }, later: (ms: number) => (nowMs += ms) };
  };
  const withTotp = async () => {
    const someone = await newPerson();
    const { secret } = await beginTotp(platform(), someone.userId);
    const totp = new TOTP({ secret });
    const { deps, later: advance } = later();
    const code = () => totp.generate({ timestamp: deps.clock.nowMs() });
    const { codes, token } = await confirmTotp(deps, acting(someone.session), code());
    const session = { ...someone.session, token };
    return { ...someone, session, deps, code, codes, later: advance };
  };
  const signInAs = async (email: string, password = PASSWORD) =>
    opened(await signIn(platform(), { email, password }, device()));
  const alive = (token: string, movesMoney = true) =>
    findSession(platform(), { token, isUsed: true }, async () => movesMoney);
  return { platform, newMerchant, newEmail, newPerson, later, withTotp, signInAs, alive };
}

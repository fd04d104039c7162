import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { takeRecoveryCode, takeTotp } from './factors.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { type Device, endSessionsOf, type NewSession, openSession } from './sessions.ts';
import type { UserRow } from './tables.ts';
import { forgetTries, takeTry } from './tries.ts';
import { type ConsoleDeps, findUserByEmail, getUser, normalEmail } from './users.ts';

export interface Credentials {
  email: string;
  password: string;
  /** Six digits of the authenticator app, or one of the recovery codes. */
  code?: string | undefined;
}

const RETRY_AFTER_SECONDS = 900;
const refused = () =>
  new Fail(
    'authentication_required',
    'The e-mail address, the password or the code is wrong, or there were too many tries: then wait for 15 minutes.',
  );

type SecondFactor = 'given' | 'none_set_up' | 'missing' | 'wrong';

async function checkFactor(
  deps: ConsoleDeps,
  user: UserRow,
  code: string | undefined,
): Promise<SecondFactor> {
  if (!user.totp_confirmed) return 'none_set_up';
  if (code === undefined || code === '') return 'missing';
  if (!(await takeTry(deps.db, 'factor', user.user_id, deps.clock.nowMs()))) return 'wrong';
  const isRight = (await takeTotp(deps, user, code)) || (await takeRecoveryCode(deps, user.user_id, code));
  return isRight ? 'given' : 'wrong';
}

export type SignIn = NewSession | 'code_required';

interface Checked {
  userId: string;
  hasSecondFactor: boolean;
}

/**
 * Checks password and second factor. A wrong password, an unknown person and a locked account are refused alike, after the
 * same work.
 *
 * @returns `code_required`: the password is right, and the code of the second factor is missing
 * @throws Fail `authentication_required`; `rate_limited` where an address tries too much
 */
export async function checkCredentials(
  deps: ConsoleDeps,
  { email: typed, password, code }: Credentials,
  device: Device,
): Promise<Checked | 'code_required'> {
  const { db, clock, log } = deps;
  const email = normalEmail(typed);
  if (!(await takeTry(db, 'address', device.remoteAddress, clock.nowMs())))
    throw new Fail('rate_limited', {
      message: 'Too many tries from this address. Wait for 15 minutes.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  const isAdmitted = await takeTry(db, 'account', email, clock.nowMs());
  const user = await findUserByEmail(db, email);
  const isRight = await isPassword(user?.password_hash ?? null, password);
  const facts = { user_id: user?.user_id, remote_address: device.remoteAddress };
  if (user === undefined || !isRight || !isAdmitted) {
    log.warn({ ...facts, locked: !isAdmitted }, 'a sign-in was refused');
    throw refused();
  }
  const factor = await checkFactor(deps, user, code);
  if (factor === 'missing') return 'code_required';
  if (factor === 'wrong') {
    log.warn(facts, 'a second factor was refused');
    throw refused();
  }
  await forgetTries(db, email, clock.nowMs());
  return { userId: user.user_id, hasSecondFactor: factor === 'given' };
}

/** Signs a person in. @throws Fail as `checkCredentials` */
export async function signIn(deps: ConsoleDeps, given: Credentials, device: Device): Promise<SignIn> {
  const checked = await checkCredentials(deps, given, device);
  if (checked === 'code_required') return checked;
  return await transact(deps.db, (tx) => openSession(tx, deps, { ...checked, device }));
}

/** Sets a password and ends all other sessions of the person. The caller has asked for a fresh proof. */
export async function setPassword(
  { db, clock }: ConsoleDeps,
  { userId, sessionId }: { userId: string; sessionId: string },
  password: string,
): Promise<void> {
  const { email } = await getUser(db, userId);
  const password_hash = await hashPassword(password, email);
  await transact(db, async (tx) => {
    await tx.updateTable('console_user').set({ password_hash }).where('user_id', '=', userId).execute();
    await endSessionsOf(tx, userId, clock.nowMs(), sessionId);
  });
}

/** Proves again who sits there, for changes that ask for a fresh proof. @throws Fail `authentication_required` */
export async function proveAgain(
  deps: ConsoleDeps,
  { userId, sessionId }: { userId: string; sessionId: string },
  { password, code }: { password: string; code?: string | undefined },
): Promise<void> {
  const user = await getUser(deps.db, userId);
  const isAdmitted = await takeTry(deps.db, 'account', user.email, deps.clock.nowMs());
  const isRight = await isPassword(user.password_hash, password);
  if (!isRight || !isAdmitted) throw refused();
  const factor = await checkFactor(deps, user, code);
  if (factor !== 'given' && factor !== 'none_set_up') throw refused();
  await deps.db
    .updateTable('console_session')
    .set({ proved_at_ms: deps.clock.nowMs() })
    .where('session_id', '=', sessionId)
    .where('ended_at_ms', 'is', null)
    .execute();
}

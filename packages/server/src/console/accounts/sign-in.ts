import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { dropSignInLinks } from './clear.ts';
import { takeRecoveryCode, takeTotp } from './factors.ts';
import { findWithCredentials, isUnchanged, type UserWithCredentials } from './lock-user.ts';
import { hasFactor, lockOwn } from './own-factors.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { type Acting, type Device, keepOnly, type NewSession, openSession, recordOwn } from './sessions.ts';
import type { UserRow } from './tables.ts';
import { forgetTries, takeTry, takeTryFrom } from './tries.ts';
import { type ConsoleDeps, getUser, normalEmail } from './users.ts';

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
/** Refuses a proof. It names a field: the console takes a 401 without one for the end of the session. */
const notProved = () =>
  new Fail('authentication_required', {
    message: 'The password or the code is wrong, or there were too many tries: then wait for 15 minutes.',
    param: 'password',
  });

type SecondFactor = 'given' | 'none_set_up' | 'missing' | 'wrong';
/** Who is signed in is counted apart: a stranger's tries do not lock them out. */
type FactorTries = readonly ['factor', 'factor_day'] | readonly ['proof_factor', 'proof_factor_day'];

async function checkFactor(
  deps: ConsoleDeps,
  user: UserRow,
  { code, tries }: { code: string | undefined; tries: FactorTries },
): Promise<SecondFactor> {
  if (!(await hasFactor(deps.db, user))) return 'none_set_up';
  if (code === undefined || code === '') return 'missing';
  for (const kind of tries)
    if (!(await takeTry(deps.db, kind, user.user_id, deps.clock.nowMs()))) return 'wrong';
  const isRight = (await takeTotp(deps, user, code)) || (await takeRecoveryCode(deps, user.user_id, code));
  if (!isRight) return 'wrong';
  await forgetTries(deps.db, tries, user.user_id);
  return 'given';
}

export type SignIn = NewSession | 'code_required';

interface Checked {
  /** As they were when password and code were checked. */
  user: UserWithCredentials;
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
  if (!(await takeTryFrom(db, device.remoteAddress, clock.nowMs())))
    throw new Fail('rate_limited', {
      message: 'Too many tries from this address. Wait for 15 minutes.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  const isAdmitted = await takeTry(db, 'account', email, clock.nowMs());
  const user = await findWithCredentials(db, 'email', email);
  const isRight = await isPassword(user?.password_hash ?? null, password);
  const facts = { user_id: user?.user_id, remote_address: device.remoteAddress };
  if (user === undefined || !isRight || !isAdmitted) {
    log.warn({ ...facts, locked: !isAdmitted }, 'a sign-in was refused');
    throw refused();
  }
  const factor = await checkFactor(deps, user, { code, tries: ['factor', 'factor_day'] });
  if (factor === 'missing') return 'code_required';
  if (factor === 'wrong') {
    log.warn(facts, 'a second factor was refused');
    throw refused();
  }
  await forgetTries(db, ['account'], email);
  return { user, hasSecondFactor: factor === 'given' };
}

/** Signs a person in. @throws Fail as `checkCredentials` */
export async function signIn(deps: ConsoleDeps, given: Credentials, device: Device): Promise<SignIn> {
  const checked = await checkCredentials(deps, given, device);
  if (checked === 'code_required') return checked;
  const { user, hasSecondFactor } = checked;
  return await transact(deps.db, async (tx) => {
    if (!(await isUnchanged(tx, user))) throw refused();
    return await openSession(tx, deps, { userId: user.user_id, hasSecondFactor, device });
  });
}

/**
 * Sets a password; all other sessions of the person end, and links that would sign them in. The caller has asked for a
 * fresh proof.
 */
export async function setPassword(deps: ConsoleDeps, acting: Acting, password: string): Promise<void> {
  const { userId } = acting;
  const { email } = await getUser(deps.db, userId);
  const password_hash = await hashPassword(password, email);
  await transact(deps.db, async (tx) => {
    // Sign-ins with the password of before wait here, and find another one.
    await lockOwn(tx, acting);
    await tx.updateTable('console_user').set({ password_hash }).where('user_id', '=', userId).execute();
    await dropSignInLinks(tx, userId);
    await keepOnly(tx, acting, deps.clock.nowMs(), {});
    await recordOwn(tx, deps, acting, { action: 'password.set' });
  });
}

/**
 * Proves again who sits there, for changes that ask for a fresh proof.
 *
 * @throws Fail `authentication_required`; `rate_limited` after too many tries
 */
export async function proveAgain(
  deps: ConsoleDeps,
  { userId, sessionId }: Pick<Acting, 'userId' | 'sessionId'>,
  { password, code }: { password: string; code?: string | undefined },
): Promise<void> {
  // Whoever is signed in knows that the account exists: nothing is hidden by hashing for it.
  if (!(await takeTry(deps.db, 'proof', userId, deps.clock.nowMs())))
    throw new Fail('rate_limited', {
      message: 'Too many tries. Wait for 15 minutes.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  const user = await findWithCredentials(deps.db, 'user_id', userId);
  if (user === undefined || !(await isPassword(user.password_hash, password))) throw notProved();
  const factor = await checkFactor(deps, user, { code, tries: ['proof_factor', 'proof_factor_day'] });
  if (factor !== 'given' && factor !== 'none_set_up') throw notProved();
  await forgetTries(deps.db, ['proof'], userId);
  await transact(deps.db, async (tx) => {
    if (!(await isUnchanged(tx, user))) throw notProved();
    await tx
      .updateTable('console_session')
      .set({ proved_at_ms: deps.clock.nowMs() })
      .where('session_id', '=', sessionId)
      .where('ended_at_ms', 'is', null)
      .execute();
  });
}

import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import type { Vault } from '../../platform/secrets/index.ts';
import { matchingStep } from './decisions.ts';
import { hasFactor, lockOwn } from './own-factors.ts';
import { digestOfCode, makeRecoveryCode } from './secrets.ts';
import { type Acting, keepOnly, recordOwn } from './sessions.ts';
import type { UserRow } from './tables.ts';
import { type ConsoleDeps, getUser } from './users.ts';

const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const RECOVERY_CODES = 10;
const CODE = /^\d{6}$/;

export { hasFactor };

const contextOf = (userId: string) => `console totp ${userId}`;
const totpOf = (secret: Uint8Array, label = 'user') =>
  new TOTP({ issuer: 'Florin', label, secret: new Secret({ buffer: Uint8Array.from(secret).buffer }) });

/** Begins the set-up of an authenticator app. It counts once a code of it was given. */
export async function beginTotp({ db, vault }: ConsoleDeps, userId: string) {
  const user = await getUser(db, userId);
  if (user.totp_confirmed)
    throw new Fail('conflict', 'An authenticator app is set up already. Remove it first.');
  const secret = new Secret({ size: SECRET_BYTES });
  await db
    .updateTable('console_user')
    .set({ totp_secret: vault.seal(secret.bytes, contextOf(userId)) })
    .where('user_id', '=', userId)
    .where('totp_confirmed', '=', false)
    .execute();
  const uri = totpOf(secret.bytes, user.email).toString();
  return { secret: secret.base32, uri, qr_svg: renderSVG(uri, { border: 4 }) };
}

function stepOf(vault: Vault, user: UserRow, code: string, nowMs: number): number | undefined {
  if (user.totp_secret === null || !CODE.test(code)) return undefined;
  const totp = totpOf(vault.open(user.totp_secret, contextOf(user.user_id)));
  const codeAt = (step: number) => totp.generate({ timestamp: step * STEP_MS });
  return matchingStep(codeAt, code, nowMs, Number(user.totp_used_step));
}

/** Spends a code: of two who give the same one at once, on whichever nodes, one succeeds. */
async function spendStep(db: Db, userId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('console_user')
    .set({ totp_used_step: step })
    .where('user_id', '=', userId)
    .where('totp_used_step', '<', BigInt(step))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether a code is right and was not used before. */
export async function takeTotp(
  { db, vault, clock }: ConsoleDeps,
  user: UserRow,
  code: string,
): Promise<boolean> {
  if (!user.totp_confirmed) return false;
  const step = stepOf(vault, user, code, clock.nowMs());
  return step !== undefined && (await spendStep(db, user.user_id, step));
}

/** Whether a recovery code is one of the person's and unused; it is used now. */
export async function takeRecoveryCode(
  { db, clock }: ConsoleDeps,
  userId: string,
  code: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('console_recovery_code')
    .set({ used_at_ms: clock.nowMs() })
    .where('user_id', '=', userId)
    .where('digest', '=', digestOfCode(code))
    .where('used_at_ms', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function forgetRecoveryCodes(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('console_recovery_code').where('user_id', '=', userId).execute();
}

/** New recovery codes for whoever has none. @returns none where there were some */
export async function ensureRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = tx.selectFrom('console_recovery_code').select('user_id').where('user_id', '=', userId);
  return (await codes.limit(1).executeTakeFirst()) === undefined ? await writeRecoveryCodes(tx, userId) : [];
}

async function writeRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode);
  await forgetRecoveryCodes(tx, userId);
  await tx
    .insertInto('console_recovery_code')
    .values(codes.map((code) => ({ user_id: userId, digest: digestOfCode(code), used_at_ms: null })))
    .execute();
  return codes;
}

/** How many of a person's recovery codes were not used yet. */
export async function recoveryCodesLeft(db: Db, userId: string): Promise<number> {
  const rows = await db
    .selectFrom('console_recovery_code')
    .select('digest')
    .where('user_id', '=', userId)
    .where('used_at_ms', 'is', null)
    .execute();
  return rows.length;
}

/**
 * New recovery codes in the place of all earlier ones, also of those that were lost or seen by others.
 *
 * @returns ten codes, shown once
 * @throws Fail `conflict` without a second factor, whose place they take
 */
export async function renewRecoveryCodes(deps: ConsoleDeps, acting: Acting): Promise<string[]> {
  return await transact(deps.db, async (tx) => {
    const user = await lockOwn(tx, acting);
    if (!(await hasFactor(tx, user)))
      throw new Fail('conflict', 'Recovery codes take the place of a second factor: set one up first.');
    const codes = await writeRecoveryCodes(tx, acting.userId);
    await recordOwn(tx, deps, acting, { action: 'factors.renewRecoveryCodes' });
    return codes;
  });
}

const wrongCode = () =>
  new Fail('invalid_request', {
    message: 'This is not the code of now, or it was used before.',
    param: 'code',
  });

/**
 * Ends the set-up: the session that gave the code has its second factor from now on, and the others end.
 *
 * @returns ten recovery codes, shown once, and the session's new secret
 */
export async function confirmTotp(
  deps: ConsoleDeps,
  acting: Acting,
  code: string,
): Promise<{ codes: string[]; token: string }> {
  const { userId } = acting;
  const user = await getUser(deps.db, userId);
  const nowMs = deps.clock.nowMs();
  const step = user.totp_confirmed ? undefined : stepOf(deps.vault, user, code, nowMs);
  if (step === undefined) throw wrongCode();
  return await transact(deps.db, async (tx) => {
    await lockOwn(tx, acting);
    const { numUpdatedRows } = await tx
      .updateTable('console_user')
      .set({ totp_confirmed: true, totp_used_step: step })
      .where('user_id', '=', userId)
      .where('totp_confirmed', '=', false)
      // Another page may have begun anew meanwhile.
      .where('totp_secret', '=', user.totp_secret)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw wrongCode();
    const codes = await writeRecoveryCodes(tx, userId);
    const token = await keepOnly(tx, acting, nowMs, { hasSecondFactor: true, isRotated: true });
    invariant(token !== undefined, 'a rotated session has another secret');
    await recordOwn(tx, deps, acting, { action: 'factors.setUpTotp' });
    return { codes, token };
  });
}

/**
 * Takes the authenticator app away, and the recovery codes where no passkey is left. No session has a second factor then; all
 * others end.
 */
export async function removeTotp(deps: ConsoleDeps, acting: Acting): Promise<void> {
  const { userId } = acting;
  await transact(deps.db, async (tx) => {
    const user = await lockOwn(tx, acting);
    await tx
      .updateTable('console_user')
      .set({ totp_secret: null, totp_confirmed: false })
      .where('user_id', '=', userId)
      .execute();
    const isLeft = await hasFactor(tx, { ...user, totp_confirmed: false });
    if (!isLeft) await forgetRecoveryCodes(tx, userId);
    await keepOnly(tx, acting, deps.clock.nowMs(), isLeft ? {} : { hasSecondFactor: false });
    await recordOwn(tx, deps, acting, { action: 'factors.removeTotp' });
  });
}

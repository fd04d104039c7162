import { type AuditDeps, recordChange } from '../../audit/index.ts';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { shorten } from '../../platform/secrets/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import { IDLE_MS, isSessionAlive, SESSION_MS } from './decisions.ts';
import { lockUser } from './lock-user.ts';
import { digestOf, makeToken } from './secrets.ts';
import type { SessionRow } from './tables.ts';

const USER_AGENT_MAX = 200;
const SEEN_EVERY_MS = 60_000;

/** Where somebody sits. */
export interface Device {
  remoteAddress: string;
  userAgent: string;
}

export interface NewSession {
  sessionId: string;
  userId: string;
  /** For the cookie; only its digest is kept. */
  token: string;
}

/**
 * Opens a session under a secret of its own: what a browser held before it signed in is never a session. The sign-in is
 * in the audit log of the installation.
 */
export async function openSession(
  tx: Tx,
  deps: AuditDeps,
  { userId, hasSecondFactor, device }: { userId: string; hasSecondFactor: boolean; device: Device },
): Promise<NewSession> {
  const nowMs = deps.clock.nowMs();
  const token = makeToken();
  const sessionId = newId();
  await tx
    .insertInto('console_session')
    .values({
      session_id: sessionId,
      digest: digestOf(token),
      user_id: userId,
      created_at_ms: nowMs,
      seen_at_ms: nowMs,
      proved_at_ms: nowMs,
      has_second_factor: hasSecondFactor,
      remote_address: device.remoteAddress,
      user_agent: shorten(device.userAgent, USER_AGENT_MAX),
      ended_at_ms: null,
    })
    .execute();
  const actor = { kind: 'user' as const, id: encodeId('user', userId) };
  const change = { merchantId: NIL_ID, actor, origin: device.remoteAddress, action: 'sessions.open' };
  const after = { session_id: encodeId('session', sessionId), has_second_factor: hasSecondFactor };
  await recordChange(tx, deps, change, { after });
  return { sessionId, userId, token };
}

/**
 * The session of a cookie while it counts. The row is read each time, so one that was ended is dead on every node.
 *
 * @param isUsed whether somebody did something: what a page asks by itself keeps no session from ending
 */
export async function findSession(
  { db, clock }: Pick<AuditDeps, 'db' | 'clock'>,
  { token, isUsed }: { token: string; isUsed: boolean },
  movesMoney: (userId: string) => Promise<boolean>,
): Promise<SessionRow | undefined> {
  const row = await db
    .selectFrom('console_session')
    .selectAll()
    .where('digest', '=', digestOf(token))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const times = {
    createdAtMs: Number(row.created_at_ms),
    seenAtMs: Number(row.seen_at_ms),
    endedAtMs: row.ended_at_ms === null ? null : Number(row.ended_at_ms),
  };
  const nowMs = clock.nowMs();
  if (!isSessionAlive(times, nowMs, await movesMoney(row.user_id))) return undefined;
  if (isUsed && nowMs - times.seenAtMs >= SEEN_EVERY_MS)
    await db
      .updateTable('console_session')
      .set({ seen_at_ms: nowMs })
      .where('session_id', '=', row.session_id)
      .where('ended_at_ms', 'is', null)
      .execute();
  return row;
}

/** A person who changes what is their own, in which session and from where. */
export interface Acting {
  userId: string;
  sessionId: string;
  remoteAddress: string;
  requestId?: string | undefined;
}

/** Records what a person changed of their own, in the transaction that changes it: refusals leave nothing behind. */
export async function recordOwn(
  tx: Tx,
  deps: AuditDeps,
  { userId, remoteAddress: origin, requestId }: Acting,
  { action, input }: { action: string; input?: unknown },
): Promise<void> {
  const actor = { kind: 'user' as const, id: encodeId('user', userId) };
  await recordChange(tx, deps, { merchantId: NIL_ID, actor, origin, action, requestId }, { input });
}

/**
 * Ends all sessions of a person but the one in which they changed password or factors, and changes that one: what was
 * proved before counts nowhere else. It has another secret where its rights grow, so whoever had the one before has nothing.
 *
 * @returns the secret, if it has another one
 * @throws Fail `authentication_required` for a session that was ended meanwhile
 */
export async function keepOnly(
  tx: Tx,
  { userId, sessionId }: Pick<Acting, 'userId' | 'sessionId'>,
  nowMs: number,
  change: { hasSecondFactor?: boolean; isRotated?: boolean },
): Promise<string | undefined> {
  await endSessionsOf(tx, userId, nowMs, sessionId);
  const { hasSecondFactor, isRotated = false } = change;
  const token = isRotated ? makeToken() : undefined;
  const { numUpdatedRows } = await tx
    .updateTable('console_session')
    .set({
      seen_at_ms: nowMs,
      ...(hasSecondFactor === undefined ? {} : { has_second_factor: hasSecondFactor }),
      ...(token === undefined ? {} : { digest: digestOf(token), proved_at_ms: nowMs }),
    })
    .where('session_id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('ended_at_ms', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Fail('authentication_required', 'Your session has ended.');
  return token;
}

/** Sessions that have not ended, newest first. */
export async function listSessions(db: Db, userId: string, nowMs: number): Promise<SessionRow[]> {
  return await db
    .selectFrom('console_session')
    .selectAll()
    .where('user_id', '=', userId)
    .where('ended_at_ms', 'is', null)
    .where('created_at_ms', '>', BigInt(nowMs - SESSION_MS))
    .orderBy('created_at_ms', 'desc')
    .execute();
}

/** Ends one session of a person, by default the one in which they act. @returns false: there is no such one */
export async function endSession(
  deps: AuditDeps,
  acting: Acting,
  sessionId = acting.sessionId,
): Promise<boolean> {
  return await transact(deps.db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('console_session')
      .set({ ended_at_ms: deps.clock.nowMs() })
      .where('user_id', '=', acting.userId)
      .where('session_id', '=', sessionId)
      .where('ended_at_ms', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    const input = { session_id: encodeId('session', sessionId) };
    await recordOwn(tx, deps, acting, { action: 'sessions.end', input });
    return true;
  });
}

/** Ends the sessions of a person, but for one that goes on. One that is being opened at this moment is waited for. */
export async function endSessionsOf(tx: Tx, userId: string, nowMs: number, kept?: string): Promise<void> {
  await lockUser(tx, userId);
  const open = tx
    .updateTable('console_session')
    .set({ ended_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where('ended_at_ms', 'is', null);
  await (kept === undefined ? open : open.where('session_id', '!=', kept)).execute();
}

/** Ends the sessions of a person that have been idle for as long as those of people who move money may be. */
export async function endIdleSessions(tx: Tx, userId: string, nowMs: number): Promise<void> {
  await tx
    .updateTable('console_session')
    .set({ ended_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where('ended_at_ms', 'is', null)
    .where('seen_at_ms', '<=', BigInt(nowMs - IDLE_MS))
    .execute();
}

/**
 * Ends every session and every unused link, as after a backup was put back: it may hold some that were ended since.
 *
 * @returns how many sessions
 */
export async function endAllSessions(db: Db, nowMs: number): Promise<number> {
  return await transact(db, async (tx) => {
    await tx.deleteFrom('console_link').where('used_at_ms', 'is', null).execute();
    const { numUpdatedRows } = await tx
      .updateTable('console_session')
      .set({ ended_at_ms: nowMs })
      .where('ended_at_ms', 'is', null)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  });
}

import { type Db, type Tx, transact } from '../platform/db/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { type Head, hashOf, NO_HASH } from './chain.ts';
import { detailsOf } from './redact-details.ts';
import type { ActorKind, AuditRow, Phase } from './tables.ts';

/** Who changes what. */
export interface Change {
  /** The nil id for what is the installation's. */
  merchantId: string;
  actor: { kind: ActorKind; id: string };
  /** The address of the request, or the machine. */
  origin: string;
  /** Such as `settings.set`. */
  action: string;
  requestId?: string | undefined;
}

export type AuditDeps = Pick<Platform, 'db' | 'clock' | 'vault' | 'log'>;

const PURPOSE = 'audit';

export const isSealed = (vault: Vault, { hash, seal }: Pick<AuditRow, 'hash' | 'seal'>): boolean =>
  vault.isMarked(hash, PURPOSE, seal);

/** The newest row of a merchant; until commit nobody else adds one. */
async function lockHead(tx: Tx, merchantId: string): Promise<Head> {
  const { number, hash } = await tx
    .insertInto('audit_head')
    .values({ merchant_id: merchantId, number: 0n, hash: NO_HASH })
    .onConflict((conflict) =>
      conflict
        .column('merchant_id')
        .doUpdateSet((excluded) => ({ merchant_id: excluded.ref('excluded.merchant_id') })),
    )
    .returning(['number', 'hash'])
    .executeTakeFirstOrThrow();
  return { number, hash };
}

interface Outcome {
  phase: Phase;
  attempt: bigint | null;
  details: object;
}

async function append(
  tx: Tx,
  { clock, vault }: AuditDeps,
  change: Change,
  { phase, attempt, details }: Outcome,
): Promise<bigint> {
  const { merchantId, actor, origin, action, requestId } = change;
  const head = await lockHead(tx, merchantId);
  const row = {
    merchant_id: merchantId,
    number: head.number + 1n,
    at_ms: BigInt(clock.nowMs()),
    actor_kind: actor.kind,
    actor: actor.id,
    origin,
    action,
    phase,
    attempt,
    request_id: requestId ?? null,
    details: detailsOf(details),
    previous_hash: head.hash,
  };
  const hash = hashOf(row);
  await tx
    .insertInto('audit_entry')
    .values({ ...row, hash, seal: vault.mark(hash, PURPOSE) })
    .execute();
  await tx
    .updateTable('audit_head')
    .set({ number: row.number, hash })
    .where('merchant_id', '=', merchantId)
    .execute();
  return row.number;
}

/**
 * Records a change in the transaction that makes it. Call it last: from here to the commit no other change of the merchant
 * is recorded.
 */
export async function recordChange(
  tx: Tx,
  deps: AuditDeps,
  change: Change,
  details: { before?: unknown; after?: unknown; input?: unknown },
): Promise<void> {
  await append(tx, deps, change, { phase: 'done', attempt: null, details });
}

/** What is changed and how it looks, read before and after. */
interface Audited<T> {
  input: unknown;
  read?: (() => Promise<unknown>) | undefined;
  work: () => Promise<T>;
}

/**
 * Runs a change that is no single transaction: the attempt is recorded and committed before it begins, its outcome after
 * it. An attempt without an outcome was interrupted. What cannot be recorded does not begin.
 */
export async function audited<T>(
  deps: AuditDeps,
  change: Change,
  { input, read, work }: Audited<T>,
): Promise<T> {
  const before = await stateOf(read);
  const attempt = await appendAlone(deps, change, {
    phase: 'attempted',
    attempt: null,
    details: { input, before },
  });
  const finish = async (phase: Phase, details: object) => {
    try {
      await appendAlone(deps, change, { phase, attempt, details });
    } catch (error) {
      // The change is made, and its secrets may be shown only now: the attempt says that it began.
      deps.log.error(
        { err: error, action: change.action },
        'the outcome of a change is not in the audit log',
      );
    }
  };
  try {
    const result = await work();
    await finish('done', { after: await stateOf(read), result });
    return result;
  } catch (error) {
    await finish('failed', { error: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

const appendAlone = (deps: AuditDeps, change: Change, outcome: Outcome): Promise<bigint> =>
  transact(deps.db, (tx) => append(tx, deps, change, outcome));

/** What cannot be read, such as what does not exist, is no reason to refuse the change; the change itself says so. */
async function stateOf(read: (() => Promise<unknown>) | undefined): Promise<unknown> {
  try {
    return await read?.();
  } catch {
    return undefined;
  }
}

/** The newest row of each merchant that has one. */
export async function readHeads(db: Db): Promise<Map<string, Head>> {
  const rows = await db.selectFrom('audit_head').selectAll().execute();
  return new Map(rows.map(({ merchant_id, ...head }) => [merchant_id, head]));
}

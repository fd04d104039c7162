import { sql } from 'kysely';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { type Db, isoOf } from '../platform/db/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { ChainCheck, type ChainFault, type Head } from './chain.ts';
import { isSealed, readHeads } from './record.ts';
import type { AuditRow } from './tables.ts';

const SLICE = 1_000;

/** One entry as it is shown and exported. */
export interface AuditEntry {
  number: number;
  at: string;
  /** `installation` for what concerns every merchant. */
  merchant: string;
  actor_kind: AuditRow['actor_kind'];
  actor: string;
  origin: string;
  action: string;
  phase: AuditRow['phase'];
  /** Of an outcome: the number of its attempt. */
  attempt: number | null;
  request_id: string | null;
  details: unknown;
  previous_hash: string;
  hash: string;
}

const merchantName = (merchantId: string) =>
  merchantId === NIL_ID ? 'installation' : encodeId('merchant', merchantId);

const presentEntry = (row: AuditRow): AuditEntry => ({
  number: Number(row.number),
  at: isoOf(row.at_ms) ?? '',
  merchant: merchantName(row.merchant_id),
  actor_kind: row.actor_kind,
  actor: row.actor,
  origin: row.origin,
  action: row.action,
  phase: row.phase,
  attempt: row.attempt === null ? null : Number(row.attempt),
  request_id: row.request_id,
  details: JSON.parse(row.details),
  previous_hash: row.previous_hash.toString('hex'),
  hash: row.hash.toString('hex'),
});

export interface AuditFilter {
  limit: number;
  /** Only entries below this number. */
  before?: number | undefined;
  /** Id of a person or key, or the name that was given on the command line. */
  actor?: string | undefined;
  action?: string | undefined;
  /** Unix seconds; the second one is not in the range itself. */
  from?: number | undefined;
  end?: number | undefined;
}

/** Entries of a merchant, or with the nil id of the installation, newest first. */
export async function listEntries(db: Db, merchantId: string, filter: AuditFilter): Promise<AuditEntry[]> {
  const { limit, before, actor, action, from, end } = filter;
  let rows = db.selectFrom('audit_entry').selectAll().where('merchant_id', '=', merchantId);
  if (before !== undefined) rows = rows.where('number', '<', BigInt(before));
  if (actor !== undefined) rows = rows.where('actor', '=', actor);
  if (action !== undefined) rows = rows.where('action', '=', action);
  if (from !== undefined) rows = rows.where('at_ms', '>=', BigInt(from) * 1_000n);
  if (end !== undefined) rows = rows.where('at_ms', '<', BigInt(end) * 1_000n);
  return (await rows.orderBy('number', 'desc').limit(limit).execute()).map(presentEntry);
}

async function* rowsOf(db: Db, merchantId: string): AsyncGenerator<AuditRow> {
  let after = 0n;
  for (;;) {
    const rows = await db
      .selectFrom('audit_entry')
      .selectAll()
      .where('merchant_id', '=', merchantId)
      .where('number', '>', after)
      .orderBy('number')
      .limit(SLICE)
      .execute();
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < SLICE) return;
    after = last.number;
  }
}

/** All entries of a merchant, oldest first. */
export async function* exportEntries(db: Db, merchantId: string): AsyncGenerator<AuditEntry> {
  for await (const row of rowsOf(db, merchantId)) yield presentEntry(row);
}

export interface AuditReport {
  merchant: string;
  entries: number;
  /** `number:hash` of the newest entry, to be noted elsewhere and given to a later run. */
  head: string;
  faults: { number: number; fault: ChainFault['fault'] | 'not_as_noted' }[];
}

/** Compares the entries of every merchant, or of one, with their hashes, seals and order. */
export async function verifyAudit(
  { db, vault }: { db: Db; vault: Vault },
  { merchantId, noted }: { merchantId?: string | undefined; noted?: Head | undefined } = {},
): Promise<AuditReport[]> {
  const merchants = merchantId === undefined ? await listChains(db) : [merchantId];
  const reports: AuditReport[] = [];
  for (const id of merchants) {
    const check = new ChainCheck((row) => isSealed(vault, row));
    // Read first: entries that are added meanwhile are behind it, and do not count.
    const head = (await readHeads(db)).get(id);
    let entries = 0;
    let isAsNoted = noted === undefined;
    for await (const row of rowsOf(db, id)) {
      if (head !== undefined && row.number > head.number && (await isNew(db, row))) break;
      entries += 1;
      isAsNoted ||= noted !== undefined && row.number === noted.number && row.hash.equals(noted.hash);
      check.add(row);
    }
    const faults: AuditReport['faults'] = check
      .end(head)
      .map(({ number, fault }) => ({ number: Number(number), fault }));
    if (!isAsNoted) faults.push({ number: Number(noted?.number), fault: 'not_as_noted' });
    const { number, hash } = check.head;
    reports.push({ merchant: merchantName(id), entries, head: `${number}:${hash.toString('hex')}`, faults });
  }
  return reports;
}

/** Whether a row behind the head that was read is one that was added since. */
async function isNew(db: Db, row: AuditRow): Promise<boolean> {
  const now = (await readHeads(db)).get(row.merchant_id);
  return now !== undefined && now.number >= row.number;
}

/** Every merchant that has entries or a head. */
async function listChains(db: Db): Promise<string[]> {
  const { rows } = await sql<{ merchant_id: string }>`
    select merchant_id from audit_head union select distinct merchant_id from audit_entry order by 1`.execute(
    db,
  );
  return rows.map(({ merchant_id }) => merchant_id);
}

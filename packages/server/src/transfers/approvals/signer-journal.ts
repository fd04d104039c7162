import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import '../../tenancy/index.ts';

// The signer of live money remembers in a journal what it has signed. We keep its newest head and send it along with each
// request: a signer whose journal was put back to an earlier time does not know the head, and signs nothing.

type Journal = NonNullable<NonNullable<ReturnType<ChainRegistry['holder']>>['journal']>;
type JournalHead = NonNullable<ReturnType<Journal['takeNewest']>>;

const NAME = 'transfers.signer_journal';

/** The newest head that we know; undefined before the first signature, and for sandbox merchants. */
export async function readSignerJournal(db: Db, { mode }: ChainOwner): Promise<JournalHead | undefined> {
  return mode === 'live' ? await readHead(db) : undefined;
}

async function readHead(db: Db): Promise<JournalHead | undefined> {
  const { rows } = await sql<{ value: JournalHead }>`
    select value from setting where merchant_id = ${NIL_ID} and name = ${NAME}`.execute(db);
  return rows[0]?.value;
}

/**
 * Keeps the head of the newest signature that this process has got. It is called once its bytes are stored, on its own: a
 * head that is lost with a crash only makes the next check milder.
 */
export async function keepSignerJournal(db: Db, chains: ChainRegistry, merchant: ChainOwner): Promise<void> {
  const newest = chains.holder(merchant)?.journal?.takeNewest();
  if (newest === undefined) return;
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${NAME}, ${JSON.stringify(newest)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value
    where (setting.value ->> 'entries')::bigint < (excluded.value ->> 'entries')::bigint`.execute(db);
}

/** The signer's journal lacks what we know of it: people decide whether it is taken as it is. */
export interface JournalAdoption {
  /** The subject of votes: the head that was lost. */
  subject: string;
  /** Takes the signer's journal as it is now. @throws Fail `conflict` where that was decided meanwhile */
  apply(tx: Tx): Promise<void>;
}

/**
 * @returns undefined where the signer knows the head that we have
 * @throws SignerUnavailable
 */
export async function findJournalAdoption(
  db: Db,
  chains: ChainRegistry,
  merchants: readonly ChainOwner[],
): Promise<JournalAdoption | undefined> {
  const known = await readHead(db);
  const journal = merchants
    .map((merchant) => chains.holder(merchant)?.journal)
    .find((one) => one !== undefined);
  if (known === undefined || journal === undefined) return undefined;
  const { isKnown, current } = await journal.check(known);
  if (isKnown) return undefined;
  return {
    subject: `${known.entries} ${known.head}`,
    apply: async (tx) => {
      const { numAffectedRows } = await sql`
        update setting set value = ${JSON.stringify(current)}::jsonb
        where merchant_id = ${NIL_ID} and name = ${NAME} and value ->> 'head' = ${known.head}`.execute(tx);
      if (numAffectedRows !== 1n) throw new Fail('conflict', "The signer's journal was adopted meanwhile.");
    },
  };
}

import type { SequenceStore } from '@florin/sdk';
import type { Pool, PoolClient } from 'pg';

export const TABLE = `create table if not exists webhook_seen (
  key text primary key, sequence bigint not null, seen_at timestamptz not null default now())`;

/** Marks of webhooks in the merchant's own database, committed together with what a handler writes in `client`. */
export function postgresStore(pool: Pool): SequenceStore<PoolClient> {
  return {
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // A connection that breaks between two statements says so to listeners alone; without one the process ends.
      const onBreak = (error: Error) => {
        broken = error;
      };
      client.on('error', onBreak);
      try {
        await client.query('begin');
        const result = await work(client);
        const { command } = await client.query('commit');
        // PostgreSQL answers so, without an error, where a statement failed and the handler went on.
        if (command === 'ROLLBACK') throw new Error('the transaction of a webhook was rolled back');
        return result;
      } catch (error) {
        await client.query('rollback').catch(onBreak);
        throw error;
      } finally {
        client.off('error', onBreak);
        client.release(broken);
      }
    },
    async advance(client, key, sequence) {
      const { rowCount } = await client.query(
        `insert into webhook_seen (key, sequence) values ($1, $2)
         on conflict (key) do update set sequence = excluded.sequence, seen_at = now()
         where webhook_seen.sequence < excluded.sequence`,
        [key, sequence],
      );
      return rowCount === 1;
    },
  };
}

import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase } from './database.ts';

const MIGRATIONS = new URL('../packages/server/migrations/', import.meta.url);
const FOUR_EYES = '0021_four_eyes.sql';
const M = '00000000-0000-0000-0000-00000000000a';
const id = (n: number) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;

async function apply(client: pg.Client, name: string): Promise<void> {
  await client.query(`begin; ${await readFile(new URL(name, MIGRATIONS), 'utf8')}; commit`);
}

test('keys, batches and refunds from before: rights stay, authors are known, what was sent counts', async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    // As new: the database came with every migration.
    await client.query('drop schema public, app cascade; create schema public');
    const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
    for (const name of files.filter((one) => one < FOUR_EYES)) await apply(client, name);
    const [ann, bob] = [id(1), id(2)];
    const keys = [
      [id(11), '{read,write,payouts}', ann],
      [id(12), '{read}', null],
      [id(13), '{write}', null],
    ];
    for (const [key, scopes, owner] of keys)
      await client.query(
        `insert into api_key (merchant_id, key_id, store_id, name, digest, last_four, scopes, owner_approver_id, secret, created_at)
         values ($1, $2, $1, 'k', $2::uuid::text::bytea, 'xxxx', $3, $4, '', 0)`,
        [M, key, scopes, owner],
      );
    const batches = [
      [id(21), id(11), 'pending_approval', bob],
      [id(22), id(11), 'draft', null],
      [id(23), id(12), 'pending_approval', null],
    ];
    for (const [batch, key, status, submitter] of batches)
      await client.query(
        `insert into payout_batch (merchant_id, batch_id, store_id, key_id, idempotency_key, currency, network, status,
           total_count, valid_count, invalid_count, requested_amount, total_amount, service_fee_amount, debit_amount,
           validation_errors, submitted_by_owner, created_at)
         values ($1, $2, $1, $3, $2::uuid::text, 'USDT', 'erc20', $4, 1, 1, 0, 1, 1, 0, 1, '[]', $5, 0)`,
        [M, batch, key, status, submitter],
      );
    for (const [n, address, status] of [
      [31, '0x1', 'pending'],
      [32, null, 'pending'],
    ] as const)
      await client.query(
        `insert into refund (merchant_id, refund_id, own_id, store_id, payment_id, currency, network, amount, address, status, day, created_at)
         values ($1, $2, $2::uuid::text, $1, $1, 'USDT', 'erc20', 5, $3, $4, 0, 77)`,
        [M, id(n), address, status],
      );
    await apply(client, FOUR_EYES);
    const rows = async (query: string) => (await client.query({ text: query, rowMode: 'array' })).rows;
    expect(await rows('select scopes from api_key order by key_id')).toEqual([
      [['read', 'write', 'payouts', 'refunds']],
      [['read']],
      [['write', 'refunds']],
    ]);
    expect(await rows('select owners::text[] from payout_batch order by batch_id')).toEqual([
      [[bob, ann]],
      [[ann]],
      [[]],
    ]);
    expect(await rows('select addressed_at, required_approvals from refund order by refund_id')).toEqual([
      [77n, 0],
      [null, 0],
    ]);
  } finally {
    await client.end();
    await database.drop();
  }
});

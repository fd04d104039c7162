import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Person } from './people.ts';

const BATCHES = '/api/v1/payout-batches';

/** A batch of one payment that waits for approval. @returns its id */
export async function submitBatch(by: Person, address: string): Promise<string> {
  const made = await by.call(BATCHES, {
    method: 'POST',
    body: { currency: 'USDT', items: [{ network: 'erc20', address, amount: '30.00' }] },
    headers: { 'idempotency-key': randomUUID() },
  });
  const batch = String(made.body.batch_id);
  const { body } = await by.call(`${BATCHES}/${batch}/submit`, { method: 'POST', body: {} });
  expect(body).toMatchObject({ status: 'pending_approval' });
  return batch;
}

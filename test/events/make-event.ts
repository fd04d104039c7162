import { randomUUID } from 'node:crypto';
import { recordEvent } from '../../packages/server/src/events/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { publishEvents } from '../../packages/server/src/webhooks/publish.ts';
import type { TestMerchant, TestService } from '../service.ts';

/** Publishes the recorded events of a merchant's store, as the job of each event does. */
export function publisherOf({ app }: TestService): (merchant: TestMerchant) => Promise<void> {
  const outbound = { post: () => Promise.reject(new Error('nothing is sent here')) };
  const deps = { ...app, outbound, disableAfterSeconds: 432_000 };
  return async ({ merchantId, storeId }) => {
    await publishEvents(deps, { merchantId, payload: { storeId } });
  };
}

class RolledBack extends Error {}

/** Records an event of a resource in a transaction of its own, which may stay open for a while or be rolled back. */
export async function makeEvent(
  { app }: TestService,
  { merchantId, storeId }: TestMerchant,
  how: { resource?: string; object?: object; waitMs?: number; rollBack?: boolean } = {},
): Promise<void> {
  const nowMs = app.clock.nowMs();
  const { resource = `pb_${randomUUID()}`, object = { made: nowMs }, waitMs = 0, rollBack = false } = how;
  const change = transact(app.db, async (tx) => {
    await recordEvent(tx, {
      merchantId,
      storeId,
      livemode: false,
      type: 'payout_batch.updated',
      resource,
      before: null,
      after: object,
      nowSeconds: Math.floor(nowMs / 1000),
      nowMs,
    });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (rollBack) throw new RolledBack();
  });
  await change.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
}

import type { EventType, Florin } from '@florin/sdk';
import { CommandFailure } from './failure.ts';

/** What a recipe did: the resource whose events follow, and how to say it. */
export interface Triggered {
  resource: string;
  said: string;
}

export type Recipe = (florin: Florin) => Promise<Triggered>;

/** For each type a real change in the sandbox that causes it. A feature brings the recipes of its types. */
export const RECIPES: Partial<Record<EventType, Recipe>> = {
  'payout_batch.updated': async ({ testHelpers, payouts }) => {
    const { trc20 } = await testHelpers.addresses();
    const item = { network: 'trc20', address: trc20.succeed, amount: '12.50' } as const;
    const { batch_id } = await payouts.create({
      currency: 'USDT',
      description: 'florin trigger',
      items: [item],
    });
    await payouts.submit(batch_id);
    return { resource: batch_id, said: `Created and submitted ${batch_id}; it is paid within seconds.` };
  },
  'webhook_endpoint.test': async ({ webhookEndpoints }) => {
    for await (const { id, status, url } of webhookEndpoints.list()) {
      if (status !== 'enabled') continue;
      await webhookEndpoints.test(id);
      return { resource: id, said: `Sent a test to ${url} (${id}).` };
    }
    throw new CommandFailure('no_endpoint', 'There is no enabled webhook endpoint to send a test to.');
  },
};

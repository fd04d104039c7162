import { killWhileRefunding } from './killed-refunds.ts';
import { SolanaStore } from './solana-store.ts';

// A sweep, and the refund that waits for it.
killWhileRefunding({
  start: () => SolanaStore.start({ worker: false }),
  transactions: 2,
  mine: async ({ local }) => {
    await local.mine(1);
  },
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { TRX } from '../nodes/tron-client.ts';
import { killWhileRefunding } from './killed-refunds.ts';
import { TronStore } from './tron-store.ts';

/** A transaction can be in one of the next twenty blocks: a process has time to send what it has signed. */
const BLOCK_MS = 150;

describe.skipIf(!hasAnvil())('workers that are killed on Tron', () => {
  // TRX for the deposit address and its sweep, TRX for the hot wallet and the refund.
  killWhileRefunding({
    start: async () => {
      const store = await TronStore.start({ worker: false, tank: 100_000 * TRX });
      await settingCommands(store.service.app).set('transfers.trx_per_day', '100000.00');
      return store;
    },
    transactions: 4,
    mine: async ({ local }) => {
      await local.mine(1);
      await sleep(BLOCK_MS);
    },
  });
});

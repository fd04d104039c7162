import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { TRX } from '../nodes/tron-client.ts';
import { share } from '../scale.ts';
import { CHARGE_POINTS, FUNDS, killWhileCharging } from './killed-local-charges.ts';
import { TronPayer } from './tron-payer.ts';
import { TronStore } from './tron-store.ts';

/** A transaction can be in one of the next twenty blocks: a process has time to send what it has signed. */
const BLOCK_MS = 150;

async function expectActivatedOnce(
  { service, merchant }: Pick<TronStore, 'service' | 'merchant'>,
  payers: number,
): Promise<void> {
  const activated = await asOwner(
    service,
    `select movement ->> 'kind' as kind, count(*)::int from transfer_attempt
     where merchant_id = $1 and status = 'succeeded' and movement ->> 'kind' in ('account', 'activate')
     group by 1 order by 1`,
    [merchant.merchantId],
  );
  expect(activated).toEqual([
    { kind: 'account', count: 1 },
    { kind: 'activate', count: payers },
  ]);
}

describe.skipIf(!hasAnvil())('a worker that is killed while it charges wallets on Tron', () => {
  killWhileCharging({
    start: async () => {
      const store = await TronStore.start({ worker: false, tank: 100_000 * TRX });
      await settingCommands(store.service.app).set('transfers.trx_per_day', '100000.00');
      return store;
    },
    points: share([...CHARGE_POINTS.sending, ...CHARGE_POINTS.activation], 0, 2),
    subscribe: async (store, ordered, name) => {
      const payer = await TronPayer.start(store, name, FUNDS);
      await payer.subscribe(ordered);
      return payer.address;
    },
    mine: async ({ local }) => {
      await local.mine(1);
      await sleep(BLOCK_MS);
    },
    expectAlso: expectActivatedOnce,
  });
});

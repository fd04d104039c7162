import { FULL } from '../scale.ts';
import { CHARGE_POINTS, FUNDS, killWhileCharging } from './killed-local-charges.ts';
import { subscribe } from './solana-payer.ts';
import { SolanaStore } from './solana-store.ts';

killWhileCharging({
  start: () => SolanaStore.start({ worker: false }),
  points: [
    ...CHARGE_POINTS.activation.filter((point) => FULL || point === 'activate.ended'),
    ...CHARGE_POINTS.sending,
  ],
  subscribe: async (store, ordered, name) => {
    const wallet = store.local.wallet(name);
    await store.local.hold({ owner: wallet, asset: store.asset }, FUNDS);
    await subscribe(store, ordered, wallet);
    return wallet;
  },
  mine: ({ local }) => local.mine(1),
});

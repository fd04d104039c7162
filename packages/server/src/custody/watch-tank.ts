import { NETWORKS } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import type { JobOutcome } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { storeTank } from '../transfers/wallets/index.ts';
import { readTankMinimum } from './settings.ts';

/** Reads what the gas tanks hold: for the metrics, and to say in time that one has to be filled. */
export const WATCH_TANK_JOB = 'custody.watch-tank';
const EVERY_MS = 300_000;

/** Handles `WATCH_TANK_JOB`, of the installation. Without a network with real money it reads nothing. */
export async function watchTank(
  deps: Pick<Platform, 'db' | 'clock' | 'log'> & { chains: Pick<ChainRegistry, 'readTank'> },
): Promise<JobOutcome> {
  for (const network of NETWORKS) {
    try {
      const tank = await deps.chains.readTank(network);
      if (tank === undefined) continue;
      const { address: sender, native } = tank;
      await storeTank(deps.db, { network, sender, native, readAt: deps.clock.nowSeconds() });
      const { native: minimum, setting } = await readTankMinimum(deps.db, network);
      if (native < minimum)
        deps.log.error(
          { event: 'gas_tank_low', network, address: sender, native: String(native) },
          `the gas tank is below ${setting}: fill it, before payouts and sweeps wait for it`,
        );
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.warn({ network, err: error }, 'the gas tank cannot be read');
    }
  }
  return { againAtMs: deps.clock.nowMs() + EVERY_MS };
}

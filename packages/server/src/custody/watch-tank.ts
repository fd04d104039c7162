import { NETWORKS, type Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import type { JobOutcome } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { storeTank, wakeBorrowers } from '../transfers/wallets/index.ts';
import { readTankMinimum, stakedBy } from './settings.ts';

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
      const { address: sender, native, stake } = tank;
      await storeTank(deps.db, { network, sender, native, stake, readAt: deps.clock.nowSeconds() });
      const { native: minimum, setting, stake: least } = await readTankMinimum(deps.db, network);
      if (native < minimum)
        deps.log.error(
          { event: 'gas_tank_low', network, address: sender, native: String(native) },
          `the gas tank is below ${setting}: fill it, before payouts and sweeps wait for it`,
        );
      const staked = stakedBy(stake);
      if (least !== undefined && staked < least.native)
        deps.log.error(
          { event: 'gas_tank_stake_low', network, address: sender, staked: String(staked) },
          `the gas tank has staked less than ${least.setting}: sweeps burn coins instead`,
        );
      // Last: whatever goes wrong with loans, an empty tank is told of.
      if (stake !== undefined) await watchLoans(deps, network, stake.borrowers);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.warn({ network, err: error }, 'the gas tank cannot be read');
    }
  }
  return { againAtMs: deps.clock.nowMs() + EVERY_MS };
}

async function watchLoans(
  deps: Pick<Platform, 'db' | 'clock' | 'log'>,
  network: Network,
  borrowers: readonly string[] | null,
): Promise<void> {
  if (borrowers === null) {
    deps.log.warn(
      { network },
      'no endpoint tells to whom the gas tank has lent: it is taken back by groups that know',
    );
    return;
  }
  const strangers = await wakeBorrowers(deps, network, borrowers);
  if (strangers.length === 0) return;
  deps.log.error(
    { event: 'gas_tank_lent', network, addresses: strangers },
    'what the gas tank has staked was lent to addresses that nothing was swept from: take it back, or look for who lends it',
  );
}

import { NETWORKS, type Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable, NATIVE_COINS } from '../chains/port/index.ts';
import { type HeldCoins, readHeld, readTankMinimum, stakedBy, sumUnswept } from '../custody/index.ts';
import type { Clock, Db } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { listMerchants, type Merchant } from '../stores/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import { TRANSFER_SETTINGS } from '../transfers/index.ts';
import { countUnderWay, listTanks, type UnderWay } from '../transfers/wallets/index.ts';

// The wallets of real money: gas tanks as workers have read them, hot wallets as their nodes show them now.

/** Workers read the tanks every five minutes. */
const STALE_SECONDS = 900;
/** Settings of coins have six decimals. */
const SETTING_UNITS = 1_000_000n;
/** Of wallets that are read at once: each takes some calls of a node. */
const AT_ONCE = 5;

export interface TreasuryDeps {
  db: Db;
  clock: Clock;
  chains: Pick<ChainRegistry, 'of' | 'facts' | 'refresh'>;
}

export type TankState = 'ok' | 'low' | 'not_read' | 'none';

/**
 * `none`: no account yet. `not_read`: the last reading is old, so its node or all workers are away; what it said is no answer
 * to whether it is enough now.
 */
function tankStateOf(
  tank: { native: bigint; readAt: number } | undefined,
  { minimum, nowSeconds }: { minimum: bigint; nowSeconds: number },
): TankState {
  if (tank === undefined) return 'none';
  if (Math.abs(nowSeconds - tank.readAt) > STALE_SECONDS) return 'not_read';
  return tank.native < minimum ? 'low' : 'ok';
}

/** What a gas tank has staked, and should have; undefined where it has nothing and should have nothing. */
function stakeOf(
  held: { free: bigint; lent: bigint } | undefined,
  least: { native: bigint; setting: string } | undefined,
) {
  if (least === undefined || (held === undefined && least.native === 0n)) return undefined;
  return {
    staked: stakedBy(held),
    lent: held?.lent ?? 0n,
    minimum: least.native,
    setting: least.setting,
  };
}

/** Each network with its gas tank, and what is on its way there. */
export async function readTreasury({ db, clock, chains }: TreasuryDeps) {
  const nowSeconds = clock.nowSeconds();
  const tanks = await listTanks(db);
  const underWay = await countUnderWay(db);
  const live = new Set(
    (await listMerchants(db)).flatMap(({ merchantId, mode }) => (mode === 'live' ? [merchantId] : [])),
  );
  const networks = [];
  for (const network of NETWORKS) {
    const tank = tanks.find((one) => one.network === network);
    const { native: minimum, setting, stake: least } = await readTankMinimum(db, network);
    const counts = new Map<string, number>();
    for (const one of underWay)
      if (one.network === network && live.has(one.merchantId))
        counts.set(one.kind, (counts.get(one.kind) ?? 0) + one.count);
    networks.push({
      network,
      isSetUp: chains.facts({ mode: 'live' }, network) !== undefined,
      tank,
      state: tankStateOf(tank, { minimum, nowSeconds }),
      minimum,
      setting,
      stake: stakeOf(tank?.stake, least),
      underWay: counts,
    });
  }
  return networks;
}

/** What a hot wallet may be given for its fees, in the smallest units of the network's own coin. */
async function ceilingOf(db: Db, merchant: Merchant, network: Network) {
  const settings = await readSettings(db, merchant, TRANSFER_SETTINGS);
  const key = network === 'trc20' ? 'trxCeiling' : 'gasCeiling';
  const native = (settings[key] * NATIVE_COINS[network].units) / SETTING_UNITS;
  return { native, setting: TRANSFER_SETTINGS[key].name };
}

/** A wallet of before, or why it cannot be read. */
type RotatedWallet = HeldCoins | { address: string; trouble: string };

/** A hot wallet, or why it cannot be read. */
export interface HotWallet {
  merchant: Merchant;
  held: HeldCoins | undefined;
  /** Those that it took the place of, which are emptied and still watched. */
  rotated: RotatedWallet[];
  /** Of the deposits at addresses of their own, in no sweep. */
  unswept: Awaited<ReturnType<typeof sumUnswept>>;
  ceiling: Awaited<ReturnType<typeof ceilingOf>>;
  underWay: UnderWay[];
  trouble: string | undefined;
  readAtMs: number;
}

type Reading = Pick<HotWallet, 'held' | 'rotated' | 'trouble'>;

/** One that cannot be read hides neither the others nor the present one. */
async function readRotated(chain: ReturnType<ChainRegistry['of']>): Promise<RotatedWallet[]> {
  const rotated: RotatedWallet[] = [];
  for (const address of (await chain.hotWallets()).slice(0, -1))
    try {
      rotated.push(await readHeld(chain, address));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      rotated.push({ address, trouble: error.message });
    }
  return rotated;
}

async function readHot(
  chains: TreasuryDeps['chains'],
  merchant: Merchant,
  network: Network,
): Promise<Reading | undefined> {
  try {
    const chain = chains.of(merchant, network);
    const held = await readHeld(chain, await chain.sender('hot'));
    return { held, rotated: await readRotated(chain), trouble: undefined };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { held: undefined, rotated: [], trouble: error.message };
    // It has no account there.
    if (error instanceof Fail && error.code === 'service_unavailable') return undefined;
    throw error;
  }
}

async function readOne(
  deps: TreasuryDeps,
  { merchant, network, reading }: { merchant: Merchant; network: Network; reading: Reading },
): Promise<HotWallet> {
  const { merchantId } = merchant;
  const underWay = (await countUnderWay(deps.db, merchantId)).filter((one) => one.network === network);
  const unswept = await sumUnswept(deps.db, { merchantId, network });
  const ceiling = await ceilingOf(deps.db, merchant, network);
  return { merchant, ...reading, unswept, ceiling, underWay, readAtMs: deps.clock.nowMs() };
}

/**
 * The hot wallets of live merchants on a network, as of its newest block, in the order in which the merchants were made.
 *
 * @param after id of the last merchant of the page before
 * @returns those of so many merchants, of whom one without an account there has none, and after whom the next page begins
 */
export async function readHotWallets(
  deps: TreasuryDeps,
  { network, limit, after }: { network: Network; limit: number; after: string | undefined },
): Promise<{ wallets: HotWallet[]; next: string | undefined }> {
  const all = (await listMerchants(deps.db)).filter(({ mode }) => mode === 'live');
  const from = after === undefined ? 0 : all.findIndex(({ merchantId }) => merchantId === after) + 1;
  // Another process may have opened an account, or rotated a wallet, since this one looked.
  await deps.chains.refresh();
  const page = all.slice(from, from + limit);
  const wallets: HotWallet[] = [];
  let away: Reading | undefined;
  for (let at = 0; at < page.length; at += AT_ONCE) {
    const merchants = page.slice(at, at + AT_ONCE);
    // A node that is away makes each call wait: the others are not asked.
    const readings = await Promise.all(
      merchants.map(async (merchant) => away ?? (await readHot(deps.chains, merchant, network))),
    );
    away = readings.find((reading) => reading?.trouble !== undefined);
    for (const [index, merchant] of merchants.entries()) {
      const reading = readings[index];
      if (reading !== undefined) wallets.push(await readOne(deps, { merchant, network, reading }));
    }
  }
  return { wallets, next: from + limit < all.length ? page.at(-1)?.merchantId : undefined };
}

import { formatTokens, NETWORKS, type Network } from '@florin/contract/money';
import type { App } from '../app.ts';
import { ChainUnavailable, NATIVE_COINS } from '../chains/port/index.ts';
import { readHeld, sumUnswept } from '../custody/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { type CoinPrice, dollarsOf } from '../rates/index.ts';
import { listMerchants, type Merchant } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { sumFees } from '../transfers/books/index.ts';
import { INSUFFICIENT_COINS_JOB, isTurnedOn } from '../transfers/index.ts';
import { orderTopUp } from '../transfers/wallets/index.ts';
import { merchantBy } from './context.ts';
import { networkBy } from './networks.ts';

const FEES_SECONDS = 30 * 86_400;
const ETHER_DECIMALS = 18;
const COIN_FORM = /^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,18})?$/;

/** A wallet of ours with real money. Amounts are decimals: of the network's own coin, of tokens, of dollars. */
interface WalletLine {
  /** `rotated`: a hot wallet that another has taken the place of. What arrives there is moved on. */
  wallet: 'gas_tank' | 'hot' | 'rotated';
  network: Network;
  /** Null for the gas tank, which all merchants share. */
  merchant_id: string | null;
  address: string;
  coin: string;
  /** What `coin` is worth; null where no rate is known. */
  coin_usd: string | null;
  /** What the gas tank has staked and can lend, and what of it others have; null where it lends nothing. */
  stake: string | null;
  stake_lent: string | null;
  USDT: string | null;
  USDC: string | null;
  /** At deposit addresses, in no sweep. */
  unswept_USDT: string | null;
  unswept_USDC: string | null;
  /** Of transactions decided in the last 30 days: a merchant's with its sweeps, of all its wallets; the gas tank's for all. */
  fees_30_days: string | null;
  /** Null where no rate was known. */
  fees_30_days_usd: string | null;
}

/** `1500000000000000000` of ether → `1.5`. */
export function formatCoin(native: bigint, network: Network = 'erc20'): string {
  const decimals = NATIVE_COINS[network].units.toString().length - 1;
  const digits = native.toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end--;
  return digits.slice(0, point) + (end === point ? '' : `.${digits.slice(point, end)}`);
}

/** @throws Fail unless it is a decimal above 0 */
function parseCoin(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  const amount = COIN_FORM.test(text) ? BigInt(whole + fraction.padEnd(ETHER_DECIMALS, '0')) : 0n;
  if (amount > 0n) return amount;
  const message = "The amount is a decimal above 0 in the network's own coin, such as 0.05.";
  throw new Fail('invalid_request', { message, param: 'amount' });
}

/** Null where no rate is known. */
export const inDollars = (native: bigint, price: CoinPrice | undefined) =>
  price === undefined ? null : formatTokens(dollarsOf(native, price));

/** @throws Fail `invalid_request` for a sandbox merchant */
async function liveMerchant(app: App, text: string): Promise<Merchant> {
  const merchant = await merchantBy(app, text);
  if (merchant.mode === 'live') return merchant;
  const message = 'A sandbox merchant has no real wallets: name a live one.';
  throw new Fail('invalid_request', { message, param: 'merchant' });
}

interface TreasuryQuery {
  network: Network;
  price: CoinPrice | undefined;
  since: number;
}

async function tankLine(
  app: App,
  tank: NonNullable<Awaited<ReturnType<App['chains']['readTank']>>>,
  { network, price, since }: TreasuryQuery,
): Promise<WalletLine> {
  const fees = await sumFees(app.db, { tank: tank.address }, { network, since });
  return {
    wallet: 'gas_tank',
    network,
    merchant_id: null,
    address: tank.address,
    coin: formatCoin(tank.native, network),
    coin_usd: inDollars(tank.native, price),
    stake: tank.stake === undefined ? null : formatCoin(tank.stake.free, network),
    stake_lent: tank.stake === undefined ? null : formatCoin(tank.stake.lent, network),
    USDT: null,
    USDC: null,
    unswept_USDT: null,
    unswept_USDC: null,
    fees_30_days: formatCoin(fees.native, network),
    fees_30_days_usd: fees.dollars,
  };
}

/** The present hot wallet, and before it those that were rotated. */
async function hotLines(
  app: App,
  merchant: Merchant,
  { network, price, since }: TreasuryQuery,
): Promise<WalletLine[]> {
  const chain = app.chains.of(merchant, network);
  const { merchantId } = merchant;
  const held = async (address: string) => {
    const { native, tokens } = await readHeld(chain, address);
    return {
      network,
      merchant_id: encodeId('merchant', merchantId),
      address,
      coin: formatCoin(native, network),
      coin_usd: inDollars(native, price),
      stake: null,
      stake_lent: null,
      USDT: formatTokens(tokens.USDT),
      USDC: formatTokens(tokens.USDC),
    };
  };
  const none = { unswept_USDT: null, unswept_USDC: null, fees_30_days: null, fees_30_days_usd: null };
  const lines: WalletLine[] = [];
  const wallets = await chain.hotWallets();
  for (const address of wallets.slice(0, -1))
    lines.push({ wallet: 'rotated', ...(await held(address)), ...none });
  const unswept = await sumUnswept(app.db, { merchantId, network });
  const fees = await sumFees(app.db, { merchantId }, { network, since });
  lines.push({
    wallet: 'hot',
    ...(await held(await chain.sender('hot'))),
    unswept_USDT: formatTokens(unswept.get('USDT') ?? 0n),
    unswept_USDC: formatTokens(unswept.get('USDC') ?? 0n),
    fees_30_days: formatCoin(fees.native, network),
    fees_30_days_usd: fees.dollars,
  });
  return lines;
}

/** The gas tank and hot wallets of live merchants: what they hold, what they cost, and moving it between them. */
export function treasuryCommands(app: App) {
  /** @throws Fail `service_unavailable` while the network is away */
  const reachable = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const message = `The network cannot be read: ${error.message}. Nothing was changed.`;
      throw new Fail('service_unavailable', { message, cause: error });
    }
  };
  return {
    status: () =>
      reachable(async () => {
        const lines: WalletLine[] = [];
        const merchants = (await listMerchants(app.db)).filter(({ mode }) => mode === 'live');
        for (const network of NETWORKS) {
          const tank = await app.chains.readTank(network);
          if (tank === undefined) continue;
          const price = await app.rates.priceOfCoin(network);
          const reading = { network, price, since: app.clock.nowSeconds() - FEES_SECONDS };
          lines.push(await tankLine(app, tank, reading));
          for (const merchant of merchants)
            if (app.live?.accounts.find(merchant.merchantId, network) !== undefined)
              lines.push(...(await hotLines(app, merchant, reading)));
        }
        return lines;
      }),
    /** Orders the sweep of all deposit addresses whose coins are worth more than the fee. */
    sweep: async (merchantText: string, networkText: string) => {
      const network = networkBy(networkText);
      const merchant = await liveMerchant(app, merchantText);
      if (!(await isTurnedOn(app.db, merchant, network))) {
        const message = `Nothing is sent for this merchant on ${network} yet: florin networks enable turns it on.`;
        throw new Fail('invalid_request', { message, param: 'network' });
      }
      const { merchantId } = merchant;
      const job = {
        kind: INSUFFICIENT_COINS_JOB,
        uniqueKey: network,
        payload: { network },
        followsClock: true,
      };
      await transact(app.db, (tx) => enqueue(tx, [{ merchantId, dueAtMs: app.clock.nowMs(), ...job }]));
      const unswept = await sumUnswept(app.db, { merchantId, network });
      return {
        merchant_id: encodeId('merchant', merchantId),
        network,
        unswept_USDT: formatTokens(unswept.get('USDT') ?? 0n),
        unswept_USDC: formatTokens(unswept.get('USDC') ?? 0n),
      };
    },
    /** Orders coins for a hot wallet's fees out of the gas tank; payouts do so by themselves. */
    topUp: (merchantText: string, networkText: string, amountText: string) =>
      reachable(async () => {
        const network = networkBy(networkText);
        const amount = parseCoin(amountText);
        const merchant = await liveMerchant(app, merchantText);
        await orderTopUp(app, merchant, { network, amount });
        const price = await app.rates.priceOfCoin(network);
        const merchant_id = encodeId('merchant', merchant.merchantId);
        return { merchant_id, network, amount: formatCoin(amount), amount_usd: inDollars(amount, price) };
      }),
  };
}

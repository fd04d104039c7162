import { ASSETS, type Asset } from '@florin/contract/money';
import type { Chain } from '../chains/port/index.ts';
import { largestOf } from '../platform/amounts.ts';

// Some networks show many balances as of several blocks. Where something has moved in these, the addresses that it has left or come to
// are read again with the hot wallets, at once: so few are as of one block, which shows each movement at both ends or at none.

/** The final blocks that balances are as of, each as of one of them. */
export interface BlockRange {
  from: bigint;
  to: bigint;
}

export type ByAddress = ReadonlyMap<string, bigint>;

/** The balances of a currency. */
export interface FoundCoins {
  coins: ByAddress;
  blocks: BlockRange;
  /** Addresses that were read again, as of one block. */
  together: { addresses: ReadonlySet<string>; at: bigint } | undefined;
}

export type Found = ReadonlyMap<Asset, FoundCoins>;

const NOTHING: FoundCoins = { coins: new Map(), blocks: { from: 0n, to: 0n }, together: undefined };

export const foundOf = (found: Found, currency: Asset): FoundCoins => found.get(currency) ?? NOTHING;

/** The blocks that the balance of an address may be as of. */
export function blocksOf({ blocks, together }: FoundCoins, address: string): BlockRange {
  if (together === undefined || !together.addresses.has(address)) return blocks;
  return { from: together.at, to: together.at };
}

export const isSpread = ({ from, to }: BlockRange): boolean => to > from;

/** The newest block that any balance is as of. */
export function newestOf(found: Found): bigint {
  const ends = [...found.values()].flatMap(({ blocks, together }) => [blocks.to, together?.at ?? 0n]);
  return largestOf(ends);
}

/** Reads the balances once, each currency as of its own final blocks. */
export async function readFinal(chain: Chain, addresses: readonly string[]): Promise<Map<Asset, FoundCoins>> {
  const found = new Map<Asset, FoundCoins>();
  for (const currency of ASSETS) {
    const { height, upTo, balances: coins } = await chain.balances(addresses, currency, 'final');
    found.set(currency, { blocks: { from: height, to: upTo ?? height }, coins, together: undefined });
  }
  return found;
}

/** So often the addresses are read again at which something has moved meanwhile. */
const TOGETHER_MAX = 5;

/**
 * Reads the hot wallets again, with the addresses at which something moved.
 *
 * @param listMoved the addresses; asked again afterwards, as more may have moved
 * @returns the balances as they were where the network does not show so many as of one block, or each time another address has moved
 */
export async function readTogether(
  chain: Chain,
  { currency, found, wallets }: { currency: Asset; found: FoundCoins; wallets: readonly string[] },
  listMoved: () => Promise<readonly string[]>,
): Promise<FoundCoins> {
  const addresses = new Set(wallets);
  let moved = await listMoved();
  for (let reads = 0; reads < TOGETHER_MAX; reads += 1) {
    for (const address of moved) addresses.add(address);
    const { height, upTo, balances } = await chain.balances([...addresses], currency, 'final');
    if (upTo !== undefined && upTo > height) break;
    // A node that is behind shows less than the books know.
    if (height < found.blocks.from) continue;
    moved = await listMoved();
    if (moved.some((address) => !addresses.has(address))) continue;
    const coins = new Map([...found.coins].filter(([address]) => !addresses.has(address)));
    return { ...found, coins: new Map([...coins, ...balances]), together: { addresses, at: height } };
  }
  return found;
}

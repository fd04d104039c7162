import { ASSETS, type Asset } from '@florin/contract/money';
import type { Chain } from '../chains/port/index.ts';

/** What a wallet of ours holds. */
export interface HeldCoins {
  address: string;
  /** In the smallest unit of the network's own coin. */
  native: bigint;
  tokens: Record<Asset, bigint>;
}

/** Reads a wallet as of the newest block. @throws ChainUnavailable */
export async function readHeld(
  chain: Pick<Chain, 'nativeBalance' | 'balance'>,
  address: string,
): Promise<HeldCoins> {
  const native = await chain.nativeBalance(address);
  const tokens: Record<Asset, bigint> = { USDT: 0n, USDC: 0n };
  for (const asset of ASSETS) tokens[asset] = await chain.balance(address, asset, 'tip');
  return { address, native, tokens };
}

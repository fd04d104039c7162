import { ASSETS, type Asset } from '@florin/contract/money';
import { accountOfTron } from '@florin/signer/tron';
import type { TronNetwork } from './network.ts';

/** keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** By the contract's account as logs have it: 20 bytes, hex. */
export type TokensByAccount = ReadonlyMap<string, Asset>;

export function tokensByAccount({ tokens }: Pick<TronNetwork, 'tokens'>): TokensByAccount {
  return new Map(
    ASSETS.flatMap((asset) => {
      const contract = tokens[asset]?.contract;
      return contract === undefined ? [] : [[accountOfTron(contract).slice(2).toLowerCase(), asset] as const];
    }),
  );
}

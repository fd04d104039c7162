import type { Chain, KeyRef } from '../../chains/port/index.ts';
import type { Wallet } from './wallet-queries.ts';

/** The wallet of a key as the chain reports it now. Read it before the transaction that locks its row. @throws ChainUnavailable */
export async function readWallet(chain: Chain, keyRef: KeyRef): Promise<Wallet> {
  return await readWalletAt(chain, await chain.sender(keyRef));
}

/** As `readWallet`, of the address that it sends from. @throws ChainUnavailable */
export async function readWalletAt(chain: Chain, sender: string): Promise<Wallet> {
  const next = await chain.nextSequence(sender);
  return { network: chain.network, sender, chainNext: next === null ? null : BigInt(next) };
}

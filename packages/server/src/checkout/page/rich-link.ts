import type { Asset, Network } from '@florin/contract/money';
import type { NetworkFacts } from '../../chains/index.ts';

/**
 * A payment link for wallets: EIP-681 on Ethereum, Solana Pay on Solana; Tron wallets share no standard. Never the default,
 * since wallets that support it in part send the money to the token's contract.
 *
 * @param facts of the network
 * @param pay.amount units to send
 * @param pay.decimal the same as decimal text
 */
export function richLinkOf(
  facts: NetworkFacts | undefined,
  pay: { token: Asset; network: Network; address: string; amount: bigint; decimal: string },
): string | null {
  const contract = facts?.tokens[pay.token];
  if (contract === undefined) return null;
  switch (pay.network) {
    case 'erc20':
      if (facts?.wallets?.kind !== 'ethereum') return null;
      return `ethereum:${contract}@${facts.wallets.chainId}/transfer?address=${pay.address}&uint256=${pay.amount}`;
    case 'spl':
      return `solana:${pay.address}?amount=${pay.decimal}&spl-token=${contract}`;
    case 'trc20':
      return null;
  }
}

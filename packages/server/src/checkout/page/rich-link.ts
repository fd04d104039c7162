import type { Asset, Network } from '@florin/contract/money';
import { TOKEN_CONTRACTS } from '../../chains/index.ts';

const ETHEREUM_CHAIN_ID = 1;

/**
 * A payment link for wallets: EIP-681 on Ethereum, Solana Pay on Solana; Tron wallets share no standard. Never the default,
 * since wallets that support it in part send the money to the token's contract.
 *
 * @param pay.amount units to send
 * @param pay.decimal the same as decimal text
 */
export function richLinkOf(pay: {
  token: Asset;
  network: Network;
  address: string;
  amount: bigint;
  decimal: string;
}): string | null {
  const contract = TOKEN_CONTRACTS[pay.network][pay.token];
  switch (pay.network) {
    case 'erc20':
      return `ethereum:${contract}@${ETHEREUM_CHAIN_ID}/transfer?address=${pay.address}&uint256=${pay.amount}`;
    case 'spl':
      return `solana:${pay.address}?amount=${pay.decimal}&spl-token=${contract}`;
    case 'trc20':
      return null;
  }
}

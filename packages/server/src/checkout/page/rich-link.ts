import { createHash } from 'node:crypto';
import type { Asset, Network } from '@florin/contract/money';
import { base58 } from '@scure/base';
import type { NetworkFacts } from '../../chains/index.ts';

/**
 * A payment link for wallets: EIP-681 on Ethereum, Solana Pay with a reference on Solana; Tron wallets share no standard. Never the default,
 * since wallets that support it in part send the money to the token's contract.
 *
 * @param facts of the network
 * @param pay.amount units to send
 * @param pay.decimal the same as decimal text
 * @param pay.paymentId its API id
 */
export function richLinkOf(
  facts: NetworkFacts | undefined,
  pay: {
    token: Asset;
    network: Network;
    address: string;
    amount: bigint;
    decimal: string;
    paymentId: string;
  },
): string | null {
  const contract = facts?.tokens[pay.token];
  if (contract === undefined) return null;
  switch (pay.network) {
    case 'erc20':
      if (facts?.wallets?.kind !== 'ethereum') return null;
      return `ethereum:${contract}@${facts.wallets.chainId}/transfer?address=${pay.address}&uint256=${pay.amount}`;
    case 'spl':
      return `solana:${pay.address}?amount=${pay.decimal}&spl-token=${contract}&reference=${referenceOf(pay.paymentId)}`;
    case 'trc20':
      return null;
  }
}

/** An account that nobody has, named in the transaction: whoever knows the payment finds the transaction by it. */
const referenceOf = (paymentId: string): string =>
  base58.encode(createHash('sha256').update(paymentId).digest());

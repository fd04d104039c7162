import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase58Decoder,
} from '@solana/kit';
import { publicTestKey } from '../test/nodes/solana/controls.ts';
import { type SolanaNode, startSolanaNode } from '../test/nodes/solana/node.ts';

/** As on mainnet. */
const SLOT_MS = 400;

/** Each token of the payer's wallet, with 6 decimals: 1,000,000.00. */
const PAYER_FUNDS = 1_000_000_000_000n;
const PAYER_LAMPORTS = 100_000_000_000n;

export interface LocalSolana {
  node: SolanaNode;
  tokens: Record<'USDT' | 'USDC', Address>;
  payer: { address: Address; public_test_key: string };
}

/**
 * A Solana with test tokens and a payer with funds. Addresses are the same at each start, the genesis hash is not.
 *
 * @param port 0 takes a free one
 * @throws where the port is taken
 */
export async function startLocalSolana(port: number): Promise<LocalSolana> {
  const node = await startSolanaNode({ port, blocks: SLOT_MS });
  const key = publicTestKey('payer');
  const { address: payer } = await createKeyPairSignerFromPrivateKeyBytes(key);
  node.controls.fund(payer, PAYER_LAMPORTS);
  const tokens = {
    USDT: await node.controls.createToken('USDT'),
    USDC: await node.controls.createToken('USDC'),
  };
  for (const token of Object.values(tokens)) await node.controls.mint(token, payer, PAYER_FUNDS);
  // All of it is final when this returns.
  for (let made = 0; made < node.chain.finalizedDepth; made += 1) node.chain.produce();
  // Wallets import the secret half and the public one together.
  const both = Buffer.concat([key, Buffer.from(getAddressEncoder().encode(payer))]);
  return {
    node,
    tokens,
    payer: { address: payer, public_test_key: getBase58Decoder().decode(both) },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Address,
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase58Decoder,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { publicTestKey } from '../test/nodes/solana/controls.ts';
import { type SolanaNode, startSolanaNode } from '../test/nodes/solana/node.ts';
import { solanaClient, tokenAddress, transfer } from '../test/nodes/solana-client.ts';
import type { LocalSolanaEntry } from './networks-file.ts';

/** As on mainnet. */
const SLOT_MS = 400;

/** Each token of the payer's wallet, with 6 decimals: 1,000,000.00. */
const PAYER_FUNDS = 1_000_000_000_000n;
const PAYER_LAMPORTS = 100_000_000_000n;
/** What a fee payer is given: 5 SOL. */
const TANK_LAMPORTS = 5_000_000_000n;

export interface LocalSolana {
  node: SolanaNode;
  /** What a server takes as `networks.spl` of its networks file. */
  entry: LocalSolanaEntry;
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
  const entry: LocalSolanaEntry = {
    name: 'Solana (local node)',
    test: true,
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: node.chain.genesisHash,
    tokens: { USDT: { address: tokens.USDT, decimals: 6 }, USDC: { address: tokens.USDC, decimals: 6 } },
    fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
    explorer: null,
  };
  return { node, entry, payer: { address: payer, public_test_key: getBase58Decoder().decode(both) } };
}

/** As somebody's wallet: by what the node answers alone. @returns the transaction's signature */
export async function payOnSolana(
  { endpoints: [{ url }], tokens }: LocalSolanaEntry,
  token: 'USDT' | 'USDC',
  to: string,
  units: bigint,
): Promise<string> {
  const payer = await createKeyPairSignerFromPrivateKeyBytes(publicTestKey('payer'));
  const client = solanaClient(url);
  const mint = address(tokens[token].address);
  const account = await tokenAddress(payer.address, mint);
  const { value: held } = await client.rpc.getTokenAccountBalance(account).send();
  if (BigInt(held.amount) < units) throw new Error('the payer has less: transfer amount exceeds balance');
  return await client.send(await client.sign(payer, await transfer(payer, mint, address(to), units)));
}

/** SOL from the payer. @returns what the wallet has then, in SOL, once a block has it */
export async function fundOnSolana(
  { endpoints: [{ url }] }: LocalSolanaEntry,
  wallet: string,
): Promise<string> {
  const payer = await createKeyPairSignerFromPrivateKeyBytes(publicTestKey('payer'));
  const client = solanaClient(url);
  const destination = address(wallet);
  const balance = async () =>
    (await client.rpc.getBalance(destination, { commitment: 'confirmed' }).send()).value;
  const before = await balance();
  const sol = getTransferSolInstruction({ source: payer, destination, amount: TANK_LAMPORTS });
  await client.send(await client.sign(payer, [sol]));
  for (;;) {
    const lamports = await balance();
    if (lamports > before) return String(Number(lamports) / 1e9);
    await sleep(SLOT_MS);
  }
}

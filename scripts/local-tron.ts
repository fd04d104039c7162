import { createHash } from 'node:crypto';
import { TronWeb, utils } from 'tronweb';
import { Collector, TestTronUSDT } from '../contracts/artifacts/index.ts';
import { startTronNode, type TronNode } from '../test/nodes/tron/node.ts';
import { readJson } from '../test/nodes/tron/wire.ts';

/** As on mainnet. */
const BLOCK_MS = 3_000;

/** Of each token, with 6 decimals: 1,000,000.00. */
const PAYER_FUNDS = 1_000_000_000_000;
const PAYER_SUN = 100_000_000_000;

export interface LocalTron {
  node: TronNode;
  tokens: Record<'USDT' | 'USDC', string>;
  /** Of mandates, from the same source as on Ethereum. */
  collector: string;
  payer: { address: string; public_test_key: string };
}

/** Keys that everybody can compute. */
function publicTestWallet(name: string) {
  const secret = createHash('sha256').update(`florin public test key: ${name}`).digest('hex');
  return { secret, address: String(TronWeb.address.fromPrivateKey(secret)) };
}

/**
 * A Tron with test tokens and a payer with funds. Addresses are the same at each start, the blocks' ids are not.
 *
 * @param port 0 takes a free one
 * @throws where the port is taken, or there is no anvil
 */
export async function startLocalTron(port: number): Promise<LocalTron> {
  const node = await startTronNode({ port, blocks: BLOCK_MS });
  const [owner, payer] = [publicTestWallet('owner of tokens'), publicTestWallet('payer')];
  for (const { address } of [owner, payer]) node.fund(address, PAYER_SUN);
  const tokens = {
    USDT: await node.deploy('USDT', TestTronUSDT.bytecode, owner.address),
    // Its issuer has left Tron: this one is for sandboxes, and answers as USDT does.
    USDC: await node.deploy('USDC', TestTronUSDT.bytecode, owner.address),
  };
  const collector = await node.deploy('Collector', Collector.bytecode, owner.address);
  for (const token of Object.values(tokens)) await mint(node, owner, token, payer.address);
  // All of it is solid when this returns.
  for (let made = 0; made <= node.chain.solidDepth; made += 1) await node.chain.produce();
  return { node, tokens, collector, payer: { address: payer.address, public_test_key: payer.secret } };
}

async function mint(node: TronNode, owner: { secret: string; address: string }, token: string, to: string) {
  const { id, number, time } = node.chain.head;
  const local = {
    txLocal: true,
    feeLimit: 100_000_000,
    blockHeader: {
      ref_block_bytes: number.toString(16).padStart(4, '0').slice(-4),
      ref_block_hash: id.slice(16, 32),
      timestamp: time,
      expiration: time + 60_000,
    },
  };
  const parameters = [
    { type: 'address', value: to },
    { type: 'uint256', value: String(PAYER_FUNDS) },
  ];
  const offline = new TronWeb({ fullHost: node.url });
  const { transaction } = await offline.transactionBuilder.triggerSmartContract(
    token,
    'mint(address,uint256)',
    local,
    parameters,
    owner.address,
  );
  const signed = utils.crypto.signTransaction(owner.secret, transaction);
  const read = readJson(Object(signed));
  await node.chain.broadcast(read);
  await node.chain.produce();
  if (node.chain.included.get(read.id)?.receipt.result !== 'SUCCESS')
    throw new Error('the tokens were not minted');
}

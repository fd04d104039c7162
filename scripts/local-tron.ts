import { setTimeout as sleep } from 'node:timers/promises';
import { Collector, TestTronUSDT } from '../contracts/artifacts/index.ts';
import { startTronNode, type TronNode } from '../test/nodes/tron/node.ts';
import { ask, balanceOf, call, hex, native, OWNER, PAYER, sendOk, TRX } from '../test/nodes/tron-client.ts';
import type { LocalTronEntry } from './networks-file.ts';

/** As on mainnet. */
const BLOCK_MS = 3_000;

/** Of each token, with 6 decimals: 1,000,000.00. */
const PAYER_FUNDS = 1_000_000_000_000;
const PAYER_SUN = 100_000 * TRX;
/** What a gas tank is given. */
const TANK_SUN = 5_000 * TRX;

export interface LocalTron {
  node: TronNode;
  /** What a server takes as `networks.trc20` of its networks file. */
  entry: LocalTronEntry;
  payer: { address: string; public_test_key: string };
}

/**
 * A Tron with test tokens and a payer with funds. Addresses are the same at each start, the blocks' ids are not.
 *
 * @param port 0 takes a free one
 * @throws where the port is taken, or there is no anvil
 */
export async function startLocalTron(port: number): Promise<LocalTron> {
  const node = await startTronNode({ port, blocks: BLOCK_MS });
  for (const { address } of [OWNER, PAYER]) node.fund(address, PAYER_SUN);
  const tokens = {
    USDT: await node.deploy('USDT', TestTronUSDT.bytecode, OWNER.address),
    // Its issuer has left Tron: this one is for sandboxes, and answers as USDT does.
    USDC: await node.deploy('USDC', TestTronUSDT.bytecode, OWNER.address),
  };
  const collector = await node.deploy('Collector', Collector.bytecode, OWNER.address);
  for (const token of Object.values(tokens)) await mint(node, token);
  // All of it is solid when this returns.
  for (let made = 0; made <= node.chain.solidDepth; made += 1) await node.chain.produce();
  const entry: LocalTronEntry = {
    name: 'Tron (local node)',
    test: true,
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: node.chain.blockAt(0).id,
    tokens: { USDT: { address: tokens.USDT, decimals: 6 }, USDC: { address: tokens.USDC, decimals: 6 } },
    // Of mandates, from the same source as on Ethereum.
    contracts: { collector },
    fee_ceilings: { fee_limit: '100000000' },
    explorer: null,
  };
  return { node, entry, payer: { address: PAYER.address, public_test_key: PAYER.secret } };
}

/** @returns the transaction's id */
export async function payOnTron(
  { endpoints: [{ url }], tokens }: LocalTronEntry,
  token: 'USDT' | 'USDC',
  to: string,
  units: bigint,
): Promise<string> {
  const contract = tokens[token].address;
  if ((await balanceOf(contract, PAYER.address, { url })) < units)
    throw new Error('the payer has less: transfer amount exceeds balance');
  return await sendOk(await call(PAYER, 'transfer(address,uint256)', [to, units], { url, contract }), url);
}

/** What the payer's wallet lets the Collector take. @returns the transaction's id */
export async function approveOnTron(
  { endpoints: [{ url }], tokens, contracts }: LocalTronEntry,
  token: 'USDT' | 'USDC',
  units: bigint,
): Promise<string> {
  const contract = tokens[token].address;
  const values = [contracts.collector, units];
  return await sendOk(await call(PAYER, 'approve(address,uint256)', values, { url, contract }), url);
}

/** TRX from the payer. @returns what the wallet has then, in TRX, once a block has it */
export async function fundOnTron({ endpoints: [{ url }] }: LocalTronEntry, wallet: string): Promise<string> {
  const readSun = async () =>
    Number((await ask('wallet/getaccount', { address: wallet, visible: true }, url)).balance ?? 0);
  const before = await readSun();
  const value = { to_address: hex(wallet), amount: TANK_SUN };
  await sendOk(await native(PAYER, 'TransferContract', value, { url }), url);
  for (;;) {
    const sun = await readSun();
    if (sun > before) return String(sun / TRX);
    await sleep(BLOCK_MS / 10);
  }
}

async function mint(node: TronNode, contract: string): Promise<void> {
  const options = { url: node.url, contract };
  const minted = await call(OWNER, 'mint(address,uint256)', [PAYER.address, PAYER_FUNDS], options);
  await sendOk(minted, node.url);
  await node.chain.produce();
  if (node.chain.included.get(minted.txID)?.receipt.result !== 'SUCCESS')
    throw new Error('the tokens were not minted');
}

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { TestTronUSDT } from '../../contracts/artifacts/index.ts';
import { startTronNode, type TronNode } from './tron/node.ts';
import * as client from './tron-client.ts';

// One node for a file of tests, and the calls of tron-client.ts on it.

const { OWNER, PAYER, TRX } = client;

export let node: TronNode;
export let usdt: string;

/** A node with a token and a payer who has some: for each test of the file, or one for all of them. */
export function useTron(often: 'each' | 'once'): void {
  const [before, after] = often === 'each' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    node = await startTronNode({ blocks: 'byHand' });
    for (const { address } of [OWNER, PAYER]) node.fund(address, 10_000 * TRX);
    usdt = await node.deploy('USDT', TestTronUSDT.bytecode, OWNER.address);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [PAYER.address, 1_000_000_000]));
    await node.chain.produce();
  });
  after(() => node.stop());
}

type BuildOptions = Partial<client.BuildOptions>;

/** Of the token, unless another contract is named. */
export async function call(
  who: client.TestKey,
  method: string,
  values: client.Parameter[],
  options: BuildOptions & { contract?: string } = {},
): Promise<client.Signed> {
  return await client.call(who, method, values, { url: node.url, contract: usdt, ...options });
}

export async function pay(to: string, amount: number, options: BuildOptions = {}): Promise<client.Signed> {
  return await call(PAYER, 'transfer(address,uint256)', [to, amount], options);
}

export async function native(
  who: client.TestKey,
  type: string,
  value: Record<string, unknown>,
  options: BuildOptions & { memo?: string } = {},
): Promise<client.Signed> {
  return await client.native(who, type, value, { url: node.url, ...options });
}

export async function ask(path: string, fields: object = {}, url = node.url) {
  return await client.ask(path, fields, url);
}

export async function send(signed: client.Signed, url = node.url) {
  return await client.send(signed, url);
}

export async function sendOk(signed: client.Signed): Promise<string> {
  return await client.sendOk(signed, node.url);
}

export async function produce(blocks = 1): Promise<void> {
  for (let made = 0; made < blocks; made += 1) await node.chain.produce();
}

/** Of the token. */
export async function balance(of: string, part: 'wallet' | 'walletsolidity' = 'wallet'): Promise<number> {
  return Number(await client.balanceOf(usdt, of, { url: node.url, part }));
}

import { bytesToHex, type Hex, parseEther } from 'viem';
import { expect } from 'vitest';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import type { MandateRequest, MandateSetup } from '../../../packages/server/src/chains/port/port.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { collectorDeployment, DETERMINISTIC_DEPLOYER } from '../../../packages/signer/src/contracts.ts';
import { by, OWNER, testAccount } from '../../../scripts/local-chain.ts';
import { FaultyNode } from './faulty-node.ts';
import type { World } from './world.ts';

export const COLLECTOR = collectorDeployment().address;
export const CAP = 10_000_000n;
export const payer = testAccount(40);

/** The collector on the chain, ether, and a payer who lets it pull. */
export async function prepare(world: World): Promise<void> {
  const { address, data } = collectorDeployment();
  const { client } = world;
  const to: Hex = `0x${DETERMINISTIC_DEPLOYER.slice(2)}`;
  await client.sendTransaction({ ...by(OWNER, 3_000_000n), to, data: bytesToHex(data) });
  await world.mine();
  expect(await client.getCode({ address: `0x${address.slice(2)}` })).toMatch(/^0x/);
  for (const wallet of [world.hot, payer.address])
    await client.setBalance({ address: wallet, value: parseEther('1') });
  for (const asset of ['USDT', 'USDC'] as const) {
    await world.mint(asset, payer.address, 100n * CAP);
    await world.own(asset, 'approve', [COLLECTOR, 50n * CAP], payer);
  }
}

export const requestAt = (startsAt: number): MandateRequest => ({
  asset: 'USDT',
  payer: payer.address,
  cap: CAP,
  period: 'month',
  startsAt,
  endsAt: null,
  subscriptions: 1,
  salt: 'one',
  allowance: CAP,
});

export async function signatureOf({ steps }: MandateSetup, who = payer): Promise<Hex> {
  const step = steps.find(({ kind }) => kind === 'activate');
  if (step?.kind !== 'activate') throw new Error('a payer signs a mandate');
  return await who.signTypedData(JSON.parse(step.typedData ?? ''));
}

/** So many endpoints of other people in front of the world's node, each of which may misbehave. */
export async function openEndpoints(world: World, count: number) {
  const nodes = await Promise.all(Array.from({ length: count }, () => FaultyNode.start(world.node.url)));
  const { hash: genesisHash } = await world.client.getBlock({ blockNumber: 0n });
  const endpoints = nodes.map(({ url }) => ({ url, isOwn: false }));
  const network = { ...world.network(), genesisHash, endpoints };
  const rpc = new EvmEndpoints(network, { log: createLogger('silent'), restMs: 0 });
  const close = async () => {
    await rpc.close();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  return { nodes, rpc, close };
}

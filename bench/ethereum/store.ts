import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Address, parseEther } from 'viem';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { FaultyNode } from '../../test/chains/evm/faulty-node.ts';
import { startSigner } from '../../test/chains/evm/real-signer.ts';
import { World } from '../../test/chains/evm/world.ts';
import { startService, type TestMerchant, type TestService } from '../../test/service.ts';
import type { BenchServer } from '../database.ts';

/** A live merchant on a local Ethereum, whose hot wallet holds coins and ether, beside a signer with a journal on disk. */
export interface Store {
  world: World;
  /** Between the service and the node. */
  node: FaultyNode;
  service: TestService;
  merchant: TestMerchant;
  hot: Address;
}

export async function withStore<Result>(
  server: BenchServer,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-bench-'));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const world = await World.start();
    closing.push(() => world.stop());
    for (const contract of ['batch_payout', 'sweeper'] as const)
      await world.move(world.sender(), { kind: 'deploy', contract });
    await world.client.setBalance({ address: world.hot, value: parseEther('5') });
    const signer = await startSigner(world, folder, ({ payouts }) => {
      payouts.approve_above = '1000.00';
    });
    closing.push(() => signer.stop());
    const node = await FaultyNode.start(world.node.url);
    closing.push(() => node.stop());
    const { hash: genesisHash } = await world.client.getBlock({ blockNumber: 0n });
    const network = world.network({ genesisHash, endpoints: [{ url: node.url, isOwn: true }] });
    const live = { network, signer: { socket: signer.socket } };
    const service = await startService({ databaseUrl: await server.createDatabase(), live });
    closing.push(() => service.stop());
    const merchant = await service.createMerchant({ mode: 'live' });
    await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'erc20');
    return await use({ world, node, service, merchant, hot: world.hot });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

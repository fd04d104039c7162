import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { EvmEndpoints } from '../../packages/server/src/chains/evm/endpoints.ts';
import type { EvmNetwork } from '../../packages/server/src/chains/evm/network.ts';
import { CheckedNode } from '../../packages/server/src/chains/evm/network-check.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { type Anvil, startAnvil } from '../../scripts/anvil.ts';
import { connect } from '../../scripts/local-chain.ts';
import { FaultyNode } from '../chains/evm/faulty-node.ts';
import { startSigner } from '../chains/evm/real-signer.ts';
import { World } from '../chains/evm/world.ts';
import { checkout } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { startService } from '../service.ts';
import { WITHIN } from './live-store.ts';

const LONG = { timeout: 120_000 };
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Of the one line that says so. */
const STOPPED = 'Correct the networks file and start again';

describe.skipIf(!hasAnvil())('a network that turns out to be another one', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-other-'));
  const stops: (() => Promise<void>)[] = [];
  let world: World;
  let other: Anvil;
  let genesisHash: string;
  let lines: string[] = [];

  beforeAll(async () => {
    world = await World.start();
    for (const contract of ['batch_payout', 'sweeper'] as const)
      await world.move(world.sender(), { kind: 'deploy', contract });
    genesisHash = (await world.client.getBlock({ blockNumber: 0n })).hash;
    // Two that start in the same second begin with the same block.
    other = await startAnvil({ slotsInAnEpoch: 1 });
    while ((await connect(other.url).getBlock({ blockNumber: 0n })).hash === genesisHash) {
      await other.stop();
      other = await startAnvil({ slotsInAnEpoch: 1 });
    }
    await connect(other.url).mine({ blocks: 200 });
  }, 120_000);
  afterEach(async () => {
    vi.useRealTimers();
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  afterAll(async () => {
    await world?.stop();
    await other?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(changes: Partial<EvmNetwork> = {}) {
    lines = [];
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    const node = await FaultyNode.start(world.node.url);
    stops.push(() => node.stop());
    const endpoints = [{ url: node.url, isOwn: true }];
    return { log, node, network: world.network({ genesisHash, endpoints, ...changes }) };
  }
  const said = (words: string) => lines.filter((line) => line.includes(words));

  test('each hour chain and genesis are compared: a node that was exchanged stops its network with one line', async () => {
    const clock = vi.useFakeTimers({ toFake: ['performance'] });
    const { log, node, network } = await start();
    const rpc = new EvmEndpoints(network, { log, timeoutMs: 20_000 });
    stops.push(() => rpc.close());
    const checked = new CheckedNode(rpc, network, log);
    expect(await checked.newest('latest')).toMatchObject({ number: expect.any(String) });
    node.target = other.url;
    clock.advanceTimersByTime(HOUR_MS + 1);
    for (let i = 0; i < 3; i++)
      await expect(checked.newest('latest')).rejects.toThrow('a chain that began with another block');
    expect(said('a chain that began with another block')).toHaveLength(1);
    clock.advanceTimersByTime(MINUTE_MS + 1);
    await expect(checked.newest('latest')).rejects.toThrow('a chain that began with another block');
    expect(said('a chain that began with another block')).toHaveLength(1);
    node.target = world.node.url;
    clock.advanceTimersByTime(MINUTE_MS + 1);
    expect(await checked.newest('latest')).toMatchObject({ number: expect.any(String) });
    expect(said('serves this chain again')).toHaveLength(1);
  });

  const CHANGES: [
    what: string,
    change: (call: { method: string; params: unknown[] }) => unknown,
    line: RegExp,
  ][] = [
    ['code', ({ method }) => (method === 'eth_getCode' ? '0x' : undefined), /has no code on this chain/],
    ['decimals', byCall('0x313ce567', `0x${'12'.padStart(64, '0')}`), /does not have 6 decimals/],
    ['symbol', byCall('0x95d89b41', `0x${symbol('TETHER')}`), /does not call itself USD/],
  ];

  test.each(CHANGES)(
    'each hour %s is compared: another one stops the network, and it goes on once it is right',
    async (_what, change, line) => {
      const clock = vi.useFakeTimers({ toFake: ['performance'] });
      const { log, node, network } = await start();
      const rpc = new EvmEndpoints(network, { log, timeoutMs: 20_000 });
      stops.push(() => rpc.close());
      const checked = new CheckedNode(rpc, network, log);
      await checked.newest('latest');
      node.lie = (call) => change(call);
      clock.advanceTimersByTime(HOUR_MS - MINUTE_MS);
      await checked.newest('latest');
      clock.advanceTimersByTime(MINUTE_MS + 1);
      for (let i = 0; i < 3; i++) {
        await expect(checked.newest('latest')).rejects.toThrow(line);
        clock.advanceTimersByTime(MINUTE_MS + 1);
      }
      expect(said(STOPPED)).toEqual([expect.stringMatching(line)]);
      node.lie = undefined;
      await checked.newest('latest');
    },
  );

  test(
    'the service goes on: at its start a wrong token stops Ethereum alone, with one line',
    LONG,
    async () => {
      const { log, network } = await start({
        tokens: { USDT: { address: world.network().batchPayout ?? '' } },
      });
      const signer = await startSigner(world, folder);
      stops.push(() => signer.stop());
      const service = await startService({
        worker: true,
        log,
        live: { network, signer: { socket: signer.socket } },
      });
      stops.push(() => service.stop());
      await expect(service.createMerchant({ mode: 'live' })).rejects.toThrow('the network is stopped');
      service.app.live?.ethereum.start();
      await expect.poll(() => said(STOPPED).length, WITHIN).toBe(1);
      const sandbox = checkout(service, await service.createMerchant());
      const session = await sandbox.open();
      await sandbox.pay(session.id);
      await expect
        .poll(() => sandbox.payment(session.payment_id), WITHIN)
        .toMatchObject({ status: 'completed' });
      expect(said(STOPPED)).toEqual([
        expect.stringMatching(/tokens\.USDT 0x\w{40} does not have 6 decimals/),
      ]);
    },
  );
});

/** Answers the calls of one function. */
function byCall(data: string, answer: string) {
  return ({ method, params }: { method: string; params: unknown[] }) =>
    method === 'eth_call' && JSON.stringify(params).includes(data) ? answer : undefined;
}

function symbol(text: string): string {
  const word = (value: number) => value.toString(16).padStart(64, '0');
  return word(32) + word(text.length) + Buffer.from(text).toString('hex').padEnd(64, '0');
}

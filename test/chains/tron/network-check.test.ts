import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port.ts';
import { CheckedTron, checkTronEndpoints } from '../../../packages/server/src/chains/tron/checked-tron.ts';
import type { TronNetwork } from '../../../packages/server/src/chains/tron/network.ts';
import { chainIdOf } from '../../../packages/server/src/chains/tron/network.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import type { TronEndpoint } from '../../nodes/tron/node.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';

describe.skipIf(!hasAnvil())('what endpoints of Tron are checked for', () => {
  let local: TronEnvironment;
  let other: TronEndpoint;

  beforeAll(async () => {
    local = await TronEnvironment.start();
    other = await local.node.open();
    await local.give('USDT', local.wallet('somebody'), 1n);
    await local.mine(FINAL_BLOCKS);
  });
  afterAll(() => local?.node.stop());
  afterEach(() => {
    Object.assign(other.view, { history: true, constant: true, solid: true });
    other.faults.clear();
  });

  const networkOf = (changes: Partial<TronNetwork> = {}): TronNetwork => ({
    ...local.network,
    endpoints: [local.node.url, other.url].map((url) => ({ url, isOwn: false })),
    ...changes,
  });
  const problemsOf = async (changes: Partial<TronNetwork> = {}) =>
    (await checkTronEndpoints(networkOf(changes), { log: createLogger('silent'), timeoutMs: 10_000 })).map(
      ({ problems }) => problems,
    );

  test('endpoints that serve the network with its tokens have no problem, also with a URL for each view', async () => {
    expect(await problemsOf()).toEqual([[], []]);
    const apart = { url: local.node.url, solidUrl: other.url, isOwn: false };
    other.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY, method: 'wallet/getblock' });
    expect(await problemsOf({ endpoints: [apart] })).toEqual([[]]);
    other.view.solid = false;
    expect(await problemsOf({ endpoints: [apart] })).toEqual([['answered 404']]);
  });

  test('another first block is told in one line, of either view', async () => {
    const genesisHash = '1'.repeat(64);
    const first = local.network.genesisHash;
    const wrong = `serves a chain with another first block (${first}): correct its URL, or genesis_hash`;
    expect(await problemsOf({ genesisHash })).toEqual([[wrong], [wrong]]);
  });

  test('one that runs no constant calls, keeps no history or is away is told, of itself alone', async () => {
    const off = 'is no contract on this chain, or the node runs no constant calls (vm.supportConstant)';
    other.view.constant = false;
    expect(await problemsOf()).toEqual([
      [],
      [
        ...(['USDT', 'USDC'] as const).map((asset) => `tokens.${asset} ${local.token(asset)} ${off}`),
        `contracts.collector ${local.network.collector} ${off}`,
      ],
    ]);
    Object.assign(other.view, { constant: true, history: false });
    expect(await problemsOf()).toEqual([
      [],
      ['keeps no history of transactions (storage.transHistory.switch)'],
    ]);
    other.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
    expect(await problemsOf()).toEqual([[], [expect.stringMatching(/./)]]);
  });

  test('a collector is known by the id that it gives a mandate: another contract, or another number of the network, is told', async () => {
    const wrong =
      "is not the collector, or sees another number of the network than the end of its first block's id";
    const collector = local.unlisted;
    const line = `contracts.collector ${collector} ${wrong}`;
    expect(await problemsOf({ collector })).toEqual([[line], [line]]);
    const nobody = local.wallet('whoever is no collector');
    expect((await problemsOf({ collector: nobody }))[0]?.[0]).toContain(
      `contracts.collector ${nobody} is no contract`,
    );
    expect(await problemsOf({ collector: null })).toEqual([[], []]);
    await local.node.chain.evm.setChainId(1);
    expect((await problemsOf())[0]).toEqual([`contracts.collector ${local.network.collector} ${wrong}`]);
    await local.node.chain.evm.setChainId(chainIdOf(local.network));
    expect(await problemsOf()).toEqual([[], []]);
  });

  test('what is no token stops the network, with one line in the log, and nothing is read of it', async () => {
    const nobody = local.wallet('whoever is no token');
    const tokens = { ...local.network.tokens, USDT: { contract: nobody } };
    const lines: string[] = [];
    const log = createLogger('warn', { write: (text) => void lines.push(text) });
    const rpc = local.endpoints(networkOf());
    const stopped = new CheckedTron(rpc, networkOf({ tokens }), log);
    const request = { method: 'wallet/getblock', params: [{}] };
    for (const ask of [() => stopped.newest('solid'), () => stopped.everywhere(request)]) {
      await expect(ask()).rejects.toThrow(ChainUnavailable);
      await expect(ask()).rejects.toThrow(`the network is stopped: tokens.USDT ${nobody} is no contract`);
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('Correct the networks file and start again.');
    const right = new CheckedTron(rpc, networkOf(), log);
    expect(await right.newest('solid')).toMatchObject({ blockID: expect.any(String) });
    await rpc.close();
  });
});

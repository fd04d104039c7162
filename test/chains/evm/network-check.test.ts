import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import type { EvmNetwork } from '../../../packages/server/src/chains/evm/network.ts';
import { CheckedNode, checkEvmEndpoints } from '../../../packages/server/src/chains/evm/network-check.ts';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port-errors.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { florin } from '../../florin-command.ts';
import type { FaultyNode } from './faulty-node.ts';
import { describeOnAnvil } from './reading.ts';

const KEY = 'K3yOfThePr0vider';
const folder = mkdtempSync(path.join(tmpdir(), 'florin-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeOnAnvil('checking a network', (get) => {
  const networkOf = (changes: Partial<EvmNetwork> = {}): EvmNetwork => ({
    ...get().network,
    endpoints: get().nodes.map(({ port }) => ({ url: `http://127.0.0.1:${port}/${KEY}`, isOwn: false })),
    ...changes,
  });
  const problemsOf = async (changes: Partial<EvmNetwork> = {}) =>
    (await checkEvmEndpoints(networkOf(changes), { log: createLogger('silent'), timeoutMs: 10_000 })).map(
      ({ problems }) => problems,
    );

  const LIES: [name: string, change: (node: FaultyNode) => void, problem: RegExp][] = [
    ['another chain id', (node) => Object.assign(node, { chainId: 5 }), /^serves the chain 5, not 31337/],
    [
      'another genesis',
      (node) => {
        node.lie = ({ params }, result) =>
          params[0] === '0x0' ? { ...(result as object), hash: `0x${'a'.repeat(64)}` } : undefined;
      },
      /^serves a chain that began with another block/,
    ],
    [
      'no final blocks',
      (node) => {
        node.refuse = ({ params }) =>
          params[0] === 'finalized' ? { code: -39_001, message: 'unknown block' } : undefined;
      },
      /^does not answer the tag finalized/,
    ],
    ['HTML', (node) => Object.assign(node, { manner: 'html' }), /^answered HTML$/],
    ['nothing at all', (node) => Object.assign(node, { manner: 'silence' }), /^did not answer in time$/],
  ];

  test.each(LIES)('%s is told of its endpoint and of no other', async (_name, change, problem) => {
    change(get().node(1));
    expect(await problemsOf()).toEqual([[], [expect.stringMatching(problem)], []]);
  });

  test('an address without code, one that is no token, and a token under another name are told', async () => {
    const { tokens, batchPayout, sweeper } = get().network;
    const [usdt = '', usdc = ''] = [tokens.USDT?.address, tokens.USDC?.address];
    const nobody = get().recipient(9_999);
    const [swapped] = await problemsOf({ tokens: { USDT: { address: usdc }, USDC: { address: usdt } } });
    expect(swapped).toEqual([
      `tokens.USDT ${usdc} does not call itself USDT`,
      `tokens.USDC ${usdt} does not call itself USDC`,
    ]);
    const [gone] = await problemsOf({ sweeper: nobody, batchPayout: nobody });
    expect(gone).toEqual([
      `contracts.batch_payout ${nobody} has no code on this chain`,
      `contracts.sweeper ${nobody} has no code on this chain`,
    ]);
    const [none] = await problemsOf({ tokens: { USDT: { address: batchPayout ?? '' } }, sweeper });
    expect(none).toEqual([
      `tokens.USDT ${batchPayout} does not have 6 decimals`,
      `tokens.USDT ${batchPayout} does not call itself USDT`,
    ]);
  });

  test('a wrong token stops its network with one line, and one endpoint’s word does not', async () => {
    const lines: string[] = [];
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    const open = (changes: Partial<EvmNetwork> = {}) => {
      const network = networkOf(changes);
      return new CheckedNode(new EvmEndpoints(network, { log, timeoutMs: 20_000, restMs: 0 }), network, log);
    };
    get().node(0).lie = ({ method }) => (method === 'eth_getCode' ? '0x' : undefined);
    expect(await open().call('eth_chainId', [])).toBe('0x7a69');
    const wrong = open({ sweeper: get().recipient(9_999) });
    for (let i = 0; i < 3; i++) await expect(wrong.newest('latest')).rejects.toThrow(ChainUnavailable);
    await expect(wrong.call('eth_chainId', [])).rejects.toThrow(
      /the network is stopped: contracts\.sweeper .* has no code/,
    );
    expect(lines.filter((line) => line.includes('is stopped'))).toHaveLength(1);
  });

  test('florin networks check reads the file, asks each endpoint, and shows no key', async () => {
    const { network } = get();
    const entry = {
      name: network.name,
      test: true,
      endpoints: networkOf().endpoints.map(({ url }) => url),
      chain_id: network.chainId,
      genesis_hash: network.genesisHash,
      tokens: {
        USDT: { address: network.tokens.USDT?.address, decimals: 6 },
        USDC: { address: network.tokens.USDC?.address, decimals: 6 },
      },
      contracts: {
        batch_payout: network.batchPayout,
        sweeper: network.sweeper,
        collector: network.collector,
      },
      finality: { tag: 'finalized', early_confirmations: 12 },
      fee_ceilings: { max_fee_per_gas: '1', max_priority_fee_per_gas: '1', gas_per_transaction: 1_000_000 },
      explorer: null,
    };
    const file = path.join(folder, 'networks.json');
    const check = async (content: object, ...flags: string[]) => {
      writeFileSync(file, JSON.stringify({ networks: { erc20: content } }));
      return await florin(['networks', 'check', file, ...flags]);
    };
    expect(await check(entry)).toMatchObject({ code: 0, stdout: expect.stringContaining('can be used') });
    get().node(2).chainId = 5;
    const found = await check(entry);
    expect(found).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('serves the chain 5, not 31337'),
    });
    const json = await check(entry, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      mistakes: [],
      endpoints: [{ ok: true }, { ok: true }, { ok: false }],
    });
    const broken = await check({ ...entry, colour: 'red' });
    expect(broken).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('colour is not a field of this file'),
    });
    const lonely = await check({ ...entry, endpoints: entry.endpoints.slice(0, 1) }, '--json');
    expect(JSON.parse(lonely.stdout)).toMatchObject({
      ok: false,
      mistakes: [expect.stringContaining('configure a second one')],
    });
    for (const { stdout, stderr } of [found, json, broken, lonely])
      expect(stdout + stderr).not.toContain(KEY);
  });
});

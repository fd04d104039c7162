import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port-errors.ts';
import { NodeError } from '../../../packages/server/src/chains/rpc/node.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { type Anvil, startAnvil } from '../../../scripts/anvil.ts';
import { connect } from '../../../scripts/local-chain.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { FaultyNode, type Manner } from './faulty-node.ts';

const KEY = 'S3cr3tKeyOfTheProvider';

describe.skipIf(!hasAnvil())('endpoints of an EVM network', () => {
  let anvil: Anvil;
  let genesisHash: string;
  let nodes: FaultyNode[] = [];
  let opened: EvmEndpoints[] = [];
  let lines: string[] = [];

  beforeAll(async () => {
    anvil = await startAnvil({ slotsInAnEpoch: 1 });
    const client = connect(anvil.url);
    await client.mine({ blocks: 40 });
    genesisHash = (await client.getBlock({ blockNumber: 0n })).hash;
  });
  afterAll(() => anvil?.stop());
  beforeEach(async () => {
    lines = [];
    nodes = await Promise.all([1, 2, 3].map(() => FaultyNode.start(anvil.url)));
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    opened = [];
    await Promise.all(nodes.map((node) => node.stop()));
  });

  /** The nodes with these places; a key stands in each URL. */
  function open(
    places: number[],
    { own = [] as number[], restMs = 0, chainId = 31_337, timeoutMs = 20_000 } = {},
  ): EvmEndpoints {
    const endpoints = places.map((place) => ({
      url: `http://user:${KEY}@127.0.0.1:${at(place).port}/v3/${KEY}?key=${KEY}`,
      isOwn: own.includes(place),
    }));
    const log = createLogger('debug', { write: (line) => void lines.push(line) });
    const network = { name: 'Test', chainId, genesisHash, endpoints };
    const rpc = new EvmEndpoints(network, { log, timeoutMs, restMs });
    opened.push(rpc);
    return rpc;
  }

  function at(place: number): FaultyNode {
    const node = nodes[place];
    if (node === undefined) throw new Error('there are three');
    return node;
  }

  const GENESIS = ['eth_getBlockByNumber', ['0x5', false]] as const;

  async function refusalOf(call: Promise<unknown>): Promise<Error> {
    const error = await call.then(() => undefined).catch((caught: unknown) => caught);
    if (error instanceof Error) return error;
    throw new Error('it was answered');
  }

  test.each<[Manner, RegExp]>([
    ['html', /answered HTML/],
    ['half', /something else than JSON/],
    ['nothing', /answered nothing/],
    ['silence', /did not answer in time/],
    ['cut', /cannot be reached/],
    ['huge', /more than 16 MiB/],
    ['busy', /limits the rate of calls/],
    ['broken', /answered 503/],
    ['other-json', /something else than JSON-RPC/],
  ])(
    'a node that answers with %s is one error that names its host; another one answers instead',
    async (manner, line) => {
      at(0).manner = manner;
      const timeoutMs = manner === 'silence' ? 2_000 : 20_000;
      const alone = await refusalOf(open([0], { timeoutMs }).call(...GENESIS));
      expect(alone).toBeInstanceOf(ChainUnavailable);
      expect(alone.message).toMatch(line);
      expect(alone.message).toContain(`127.0.0.1:${at(0).port}`);
      expect(await open([0, 1], { timeoutMs }).call(...GENESIS)).toMatchObject({ number: '0x5' });
    },
  );

  test('of an answer of 100 MB no more than 16 MiB are read', async () => {
    at(0).manner = 'endless';
    const alone = await refusalOf(open([0], { timeoutMs: 30_000 }).call(...GENESIS));
    expect(alone.message).toMatch(/more than 16 MiB/);
    // What is on its way is not read.
    expect(at(0).flooded).toBeLessThan(50 * 1_048_576);
  });

  test('batches are answered in order, refusals in their places; a node without batches gets single calls', async () => {
    const requests = [
      { method: 'eth_getBlockByNumber', params: ['0x3', false] },
      { method: 'eth_noSuchMethod', params: [] },
      { method: 'eth_getBlockByNumber', params: ['0x1', false] },
    ];
    for (const manner of [undefined, 'batchless'] as const) {
      at(0).manner = manner;
      const [third, refused, first] = await open([0]).callMany(requests);
      expect([third, first]).toMatchObject([{ number: '0x3' }, { number: '0x1' }]);
      expect(refused).toBeInstanceOf(NodeError);
    }
    const many = Array.from({ length: 250 }, (_, i) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${(i % 30).toString(16)}`, false],
    }));
    at(1).forget();
    const answers = await open([1]).callMany(many);
    expect(answers.map((one) => Number((one as { number: string }).number))).toEqual(
      many.map((_, i) => i % 30),
    );
    // Three batches, and one that asks which chain it is.
    expect(at(1).requests).toBe(4);
  });

  test('a refusal is passed on; a node that lacks a block is not the last word', async () => {
    await expect(open([0]).call('eth_noSuchMethod', [])).rejects.toThrow(NodeError);
    at(0).refuse = ({ method }) =>
      method === 'eth_getBalance' ? { code: -32_000, message: 'header not found' } : undefined;
    const zero = ['eth_getBalance', [`0x${'1'.repeat(40)}`, '0x5']] as const;
    expect(await open([0, 1]).call(...zero)).toBe('0x0');
    await expect(open([0]).call(...zero)).rejects.toThrow(NodeError);
  });

  test('people are told how far each endpoint is, and why one tells nothing', async () => {
    const rpc = open([0, 1, 2], { own: [2], restMs: 60_000 });
    at(0).lag = 3;
    at(1).manner = 'broken';
    const hostOf = (place: number) => `127.0.0.1:${at(place).port}`;
    const told = [
      { host: hostOf(2), isOwn: true, height: 40n, problem: null },
      { host: hostOf(0), isOwn: false, height: 37n, problem: null },
      { host: hostOf(1), isOwn: false, height: null, problem: 'answered 503' },
    ];
    expect(await rpc.states()).toEqual(told);
    const rests = {
      ...told[2],
      problem: expect.stringMatching(/^answered 503: it is left alone for \d+ s$/),
    };
    expect(await rpc.states()).toEqual([told[0], told[1], rests]);
    expect(JSON.stringify(await rpc.states(), (_, value) => String(value))).not.toContain(KEY);
  });

  test('an endpoint that fails is left alone, as long as it asks for, and tried again', async () => {
    const clock = vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const rpc = open([0, 1], { restMs: 300, timeoutMs: 20_000 });
      at(0).manner = 'busy';
      at(0).retryAfter = 1;
      await rpc.call(...GENESIS);
      const asked = at(0).requests;
      clock.advanceTimersByTime(990);
      for (let i = 0; i < 20; i++) await rpc.call(...GENESIS);
      expect(at(0).requests).toBe(asked);
      at(0).manner = undefined;
      clock.advanceTimersByTime(20);
      await rpc.call(...GENESIS);
      expect(at(0).requests).toBeGreaterThan(asked);
    } finally {
      vi.useRealTimers();
    }
  });

  test('each further failure doubles the time for which it is left alone, up to a minute; an answer ends that', async () => {
    const clock = vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const rpc = open([0, 1], { restMs: 1_000, timeoutMs: 20_000 });
      await rpc.call(...GENESIS);
      at(0).manner = 'busy';
      for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
        await rpc.call(...GENESIS);
        const asked = at(0).requests;
        clock.advanceTimersByTime(seconds * 1_000 - 100);
        await rpc.call(...GENESIS);
        expect(at(0).requests, `within ${seconds} s`).toBe(asked);
        clock.advanceTimersByTime(200);
      }
      at(0).manner = undefined;
      await rpc.call(...GENESIS);
      at(0).manner = 'busy';
      await rpc.call(...GENESIS);
      const asked = at(0).requests;
      clock.advanceTimersByTime(1_100);
      await rpc.call(...GENESIS);
      expect(at(0).requests).toBe(asked + 1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('one endpoint alone decides nothing unless it is the operator’s own', async () => {
    const alone = await refusalOf(open([0]).agreed(...GENESIS));
    expect(alone.message).toContain('configure a second one, or mark your own node with "own": true');
    expect(at(0).requests).toBe(0);
    expect(await open([0], { own: [0] }).agreed(...GENESIS)).toMatchObject({ number: '0x5' });
    // Its own node is asked first, and alone.
    at(1).forget();
    await open([1, 2], { own: [2] }).agreed(...GENESIS);
    expect(at(1).requests).toBe(0);
  });

  test('J7: one liar of three is outvoted wherever it stands; of two none is believed', async () => {
    for (const liar of [0, 1, 2]) {
      for (const node of nodes) node.lie = undefined;
      at(liar).lie = (call, result) =>
        call.params[0] === '0x5' ? { ...(result as object), hash: `0x${'ab'.repeat(32)}` } : undefined;
      const truth = await open([0, 1, 2]).agreed(...GENESIS);
      expect((truth as { hash: string }).hash).not.toBe(`0x${'ab'.repeat(32)}`);
      const honest = (liar + 1) % 3;
      const refused = await refusalOf(open([liar, honest]).agreed(...GENESIS));
      expect(refused.message).toMatch(/127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+ answer differently/);
    }
    expect(lines.join('\n')).toContain('answers differently from two others');
  });

  test('J7: a head is what two have reached: neither one that invents blocks nor one that lags moves it', async () => {
    const head = BigInt(await connect(anvil.url).getBlockNumber());
    for (const tag of ['latest', 'finalized'] as const) {
      const expected = await open([0], { own: [0] }).newest(tag);
      at(0).lie = ({ params }, result) =>
        params[0] === tag ? { ...(result as object), number: '0xffffffff' } : undefined;
      expect(await open([0, 1, 2]).newest(tag)).toEqual(expected);
      at(0).lie = undefined;
      at(0).lag = 30;
      expect(await open([0, 1, 2]).newest(tag)).toEqual(expected);
      // Of two, the slower one is what both have.
      expect(BigInt(((await open([0, 1]).newest('latest')) as { number: string }).number)).toBe(head - 30n);
      at(0).lag = 0;
    }
  });

  test('J7: an endpoint of another chain is not used, says so in one line, and is believed for nothing', async () => {
    at(0).chainId = 5;
    const rpc = open([0, 1], { own: [0, 1] });
    for (let i = 0; i < 5; i++) expect(await rpc.agreed(...GENESIS)).toMatchObject({ number: '0x5' });
    expect(at(0).counted('eth_getBlockByNumber')).toBe(1);
    expect(lines.filter((line) => line.includes('serves the chain 5, not 31337'))).toHaveLength(1);
    const alone = await refusalOf(open([2], { chainId: 1 }).call(...GENESIS));
    expect(alone.message).toContain('serves the chain 31337, not 1');
  });

  test('J7: a chain that began with another block is another chain, also when the node was exchanged later', async () => {
    const rpc = open([0], { own: [0] });
    await rpc.call(...GENESIS);
    at(0).manner = 'cut';
    await refusalOf(rpc.call(...GENESIS));
    at(0).manner = undefined;
    at(0).lie = ({ params }, result) =>
      params[0] === '0x0' ? { ...(result as object), hash: `0x${'cd'.repeat(32)}` } : undefined;
    expect((await refusalOf(rpc.call(...GENESIS))).message).toContain(
      'a chain that began with another block',
    );
  });

  test('G2: no key of a URL is in any error or log line, whatever goes wrong', async () => {
    const manners: (Manner | undefined)[] = [
      'html',
      'half',
      'nothing',
      'cut',
      'busy',
      'broken',
      'other-json',
      undefined,
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...manners), { minLength: 3, maxLength: 3 }),
        fc.constantFrom('call', 'agreed', 'callMany', 'newest'),
        fc.constantFrom(31_337, 1),
        fc.boolean(),
        async (given, way, chainId, quotes) => {
          for (const [place, manner] of given.entries()) {
            at(place).manner = manner;
            at(place).refuse = quotes
              ? ({ method, params }) =>
                  method === 'eth_chainId' || params[0] === '0x0'
                    ? undefined
                    : { code: -32_000, message: `cannot serve http://127.0.0.1/v3/${KEY}` }
              : undefined;
          }
          const rpc = open([0, 1, 2], { chainId });
          const work =
            way === 'callMany'
              ? rpc.callMany([{ method: 'eth_gasPrice', params: [] }])
              : way === 'newest'
                ? rpc.newest('latest')
                : rpc[way](...GENESIS);
          const error = await work
            .then((answers) => (Array.isArray(answers) ? answers[0] : undefined))
            .catch((caught: unknown) => caught);
          const said = `${error instanceof Error ? `${error.message}\n${error.stack}\n${String(error.cause)}` : ''}\n${lines.join('\n')}`;
          expect(said).not.toContain(KEY);
          expect(said).not.toContain(KEY.slice(3, 14));
        },
      ),
      { numRuns: 60 },
    );
  });
});

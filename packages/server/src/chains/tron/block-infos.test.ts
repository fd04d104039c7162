import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChainUnavailable } from '../port/port-errors.ts';
import { EndpointFailed } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { readBlockInfos } from './block-infos.ts';
import { readWithIds } from './final-blocks.ts';
import { LargeBlocks } from './large-blocks.ts';

const idOf = (height: bigint, i: number) => `${height.toString(16)}f${i.toString(16)}`.padStart(64, '0');
const unavailable = (...of: ConstructorParameters<typeof EndpointFailed>) =>
  new ChainUnavailable('trc20', 'no usable answer', new EndpointFailed(...of));

/** Endpoints that answer so many calls of a reading, and no block of more than so many transactions. */
function endpoints(
  counts: ReadonlyMap<bigint, number>,
  { callsMax, sizeMax }: { callsMax: number; sizeMax: number },
) {
  const given = new Map<string, number>();
  let left = callsMax;
  const idsOf = (height: bigint) =>
    Array.from({ length: counts.get(height) ?? 0 }, (_, i) => idOf(height, i));
  const answer = ({ method, params: [fields] }: NodeRequest): unknown => {
    const { num, value, id_or_num: asked } = Object(fields);
    if (method.endsWith('/getblock'))
      return {
        blockID: String(asked).padStart(64, '0'),
        transactions: idsOf(BigInt(asked)).map((txID) => ({ txID })),
      };
    if (method.endsWith('/gettransactioninfobyid')) {
      const height = [...counts.keys()].find((one) => idsOf(one).includes(value));
      given.set(value, (given.get(value) ?? 0) + 1);
      return { id: value, blockNumber: Number(height) };
    }
    const ids = idsOf(BigInt(num));
    if (ids.length > sizeMax) throw unavailable('too_large', 'answered with more than 16 MiB');
    return ids.map((id) => ({ id, blockNumber: num }));
  };
  const ask = async (requests: readonly NodeRequest[]) => {
    left -= requests.length;
    if (left < 0) throw unavailable('busy', 'limits the rate of calls (429)');
    return requests.map(answer);
  };
  const refill = () => {
    left = callsMax;
  };
  return { ask, given, idsOf, refill };
}

test('a reading that is refused in the middle goes on there, and no transaction is read twice', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 24, max: 40 }), async (list, callsMax) => {
      const counts = new Map(list.map((count, i) => [BigInt(i + 1), count]));
      const nodes = endpoints(counts, { callsMax, sizeMax: 10 });
      const large = new LargeBlocks();
      const read = (heights: readonly bigint[]) => {
        nodes.refill();
        return readBlockInfos({ view: 'solid', ask: nodes.ask, large }, heights);
      };
      const heights = [...counts.keys()];
      let found = await read(heights).catch(() => undefined);
      // As the feed does: each of them alone, once one of them was too large.
      for (let tries = 0; found === undefined; tries++) {
        expect(tries).toBeLessThan(60);
        const each = [];
        for (const height of heights) each.push(await read([height]).catch(() => undefined));
        if (!each.includes(undefined)) found = each.map((one) => one?.[0] ?? []);
      }
      expect(found.map((infos) => infos.map(({ id }) => id))).toEqual(heights.map(nodes.idsOf));
      expect(Math.max(1, ...nodes.given.values())).toBe(1);
    }),
    { numRuns: 60 },
  );
});

test('what comes too late for several blocks is asked for alone, with more time, and then in parts', async () => {
  const nodes = endpoints(
    new Map([
      [1n, 3],
      [2n, 3],
    ]),
    { callsMax: 1_000, sizeMax: 10 },
  );
  const large = new LargeBlocks();
  const asked: (boolean | undefined)[] = [];
  let failure: 'timeout' | 'too_large' = 'timeout';
  const ask = async (requests: readonly NodeRequest[]) => {
    if (!requests.some(({ method }) => method.endsWith('byblocknum'))) return nodes.ask(requests);
    asked.push(requests[0]?.isLarge);
    throw unavailable(failure, 'gave no answer');
  };
  const read = (heights: readonly bigint[]) => readBlockInfos({ view: 'solid', ask, large }, heights);
  await expect(read([1n, 2n])).rejects.toThrow(ChainUnavailable);
  expect([large.how(1n), large.how(2n)]).toEqual(['alone', 'alone']);
  failure = 'too_large';
  expect((await read([1n]))[0]).toHaveLength(3);
  expect(asked).toEqual([false, true]);
  expect([large.how(1n), large.how(2n)]).toEqual(['in parts', 'alone']);
  // It is not asked for as a whole again.
  await read([1n]);
  expect(asked).toHaveLength(2);
});

test('a full block that comes too late beside others is asked for alone, with more time, and the others are not', async () => {
  const node = { asked: [] as { heights: bigint[]; isLarge: boolean }[], slow: 2n };
  const header = (height: bigint) => ({
    blockID: String(height).padStart(64, '0'),
    block_header: {
      raw_data: {
        number: Number(height),
        timestamp: 3_000 * Number(height),
        parentHash: String(height - 1n).padStart(64, '0'),
        txTrieRoot: '0'.repeat(64),
      },
    },
  });
  const agreedMany = async (requests: readonly NodeRequest[]) => {
    const heights = requests.map(({ params: [fields] }) => BigInt(Object(fields).id_or_num));
    const isLarge = requests.every((one) => one.isLarge === true);
    node.asked.push({ heights, isLarge });
    if (heights.includes(node.slow) && !isLarge) throw unavailable('timeout', 'did not answer in time');
    return heights.map(header);
  };
  const large = new LargeBlocks();
  large.refuseRuns();
  const read = (heights: readonly bigint[]) => readWithIds({ agreedMany }, heights, large);
  await expect(read([1n, 2n])).rejects.toThrow(ChainUnavailable);
  expect(large.parts([1n, 2n, 3n])).toEqual([[3n], [1n], [2n]]);
  for (const part of large.parts([1n, 2n, 3n])) await read(part);
  expect(node.asked.slice(1)).toEqual([
    { heights: [3n], isLarge: false },
    { heights: [1n], isLarge: true },
    { heights: [2n], isLarge: true },
  ]);
});

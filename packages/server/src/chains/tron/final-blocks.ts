import { ChainUnavailable } from '../port/port-errors.ts';
import { slicesOf } from '../rpc/slices.ts';
import { type Header, readHeader } from './headers.ts';
import { ofView, type TronNode } from './node.ts';
import { readHex, readList, readNumber, readRecord, readResult, unusable } from './node-answers.ts';

/** Blocks that are read at once: some 300 kB each on mainnet. */
const BLOCKS_AT_ONCE = 16;

type Infos = readonly Record<string, unknown>[];

/** Headers of final blocks, where two endpoints agree; a height that they do not have is absent. @throws ChainUnavailable */
export async function readFinalHeaders(
  node: TronNode,
  heights: readonly bigint[],
): Promise<Map<bigint, Header>> {
  const answers = await node.agreedMany([...new Set(heights)].map((height) => blockRequest(height, false)));
  const headers = answers.flatMap((answer) => readHeader(readResult(answer)) ?? []);
  return new Map(headers.map((header) => [header.height, header]));
}

/**
 * What the transactions of final blocks have done, where two endpoints agree, in slices of some blocks.
 *
 * @throws ChainUnavailable, also where a block without transactions is none by its header: a node answers the same for a block that it
 *   does not have
 */
export async function* readFinalBlocks(
  node: TronNode,
  heights: readonly bigint[],
): AsyncGenerator<readonly (readonly [height: bigint, infos: Infos])[]> {
  const method = ofView('solid', 'gettransactioninfobyblocknum');
  for (const some of slicesOf(heights, BLOCKS_AT_ONCE)) {
    const answers = await node.agreedMany(
      some.map((height) => ({ method, params: [{ num: Number(height) }] })),
    );
    const blocks = some.map((height, i) => [height, readInfos(readResult(answers[i]), height)] as const);
    await assertEmpty(
      node,
      blocks.flatMap(([height, infos]) => (infos.length === 0 ? [height] : [])),
    );
    yield blocks;
  }
}

/**
 * The ids of the transactions in final blocks, by the blocks themselves, which their ids stand for.
 *
 * @throws ChainUnavailable, also where the nodes lack one of the blocks
 */
export async function* readFinalIds(node: TronNode, heights: readonly bigint[]): AsyncGenerator<string[]> {
  for (const some of slicesOf(heights, BLOCKS_AT_ONCE)) {
    const answers = await node.agreedMany(some.map((height) => blockRequest(height, true)));
    yield answers.flatMap((answer, i) => {
      const header = readHeader(readResult(answer));
      const { transactions } = readRecord(answer, 'a block');
      const ids = readList(transactions ?? [], 'the transactions of a block').map((one) =>
        readHex(readRecord(one, 'a transaction').txID, 'the id of a transaction', 32),
      );
      if (header === undefined || header.height !== some[i] || header.isEmpty !== (ids.length === 0))
        throw new ChainUnavailable('trc20', `the nodes lack the final block ${some[i]}`);
      return ids;
    });
  }
}

const blockRequest = (height: bigint, detail: boolean) => ({
  method: ofView('solid', 'getblock'),
  params: [{ id_or_num: String(height), detail }],
});

/** The answer of `gettransactioninfobyblocknum`. @throws ChainUnavailable */
export function readInfos(answer: unknown, height: bigint): Infos {
  const infos = readList(answer, 'the transactions of a block').map((one) =>
    readRecord(one, 'a transaction'),
  );
  if (infos.some((info) => readNumber(info.blockNumber, 'the block of a transaction') !== height))
    throw unusable('a transaction is of another block than was asked for');
  return infos;
}

async function assertEmpty(node: TronNode, heights: readonly bigint[]): Promise<void> {
  if (heights.length === 0) return;
  const headers = await readFinalHeaders(node, heights);
  for (const height of heights) {
    if (headers.get(height)?.isEmpty !== true)
      throw new ChainUnavailable(
        'trc20',
        `the nodes leave out the transactions of the final block ${height}`,
      );
  }
}

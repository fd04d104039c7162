import { ChainUnavailable } from '../port/port-errors.ts';
import { mayBeTooLarge } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { blockRequest, type Infos, readBlockInfos, readIds } from './block-infos.ts';
import { type Header, readHeader } from './headers.ts';
import type { LargeBlocks } from './large-blocks.ts';
import type { TronNode } from './node.ts';
import { readHex, readResult } from './node-answers.ts';

/** Blocks that are read at once: some 300 kB each on mainnet. */
export const BLOCKS_AT_ONCE = 16;

export interface ReadBlock {
  header: Header;
  infos: Infos;
}

/** Headers of final blocks, where two endpoints agree; a height that they do not have is absent. @throws ChainUnavailable */
export async function readFinalHeaders(
  node: TronNode,
  heights: readonly bigint[],
): Promise<Map<bigint, Header>> {
  const requests = [...new Set(heights)].map((height) => blockRequest('solid', height, false));
  const answers = await node.agreedMany(requests);
  const headers = answers.flatMap((answer) => readHeader(readResult(answer)) ?? []);
  return new Map(headers.map((header) => [header.height, header]));
}

/**
 * Final blocks with what their transactions have done, where two endpoints agree.
 *
 * @param heights `BLOCKS_AT_ONCE` at most
 * @throws ChainUnavailable, also where a transaction that the block itself names is missing: what a node keeps of transactions is not what
 *   it keeps of blocks, and it answers the same for a block that it does not have as for an empty one
 */
export async function readFinalBlocks(
  node: TronNode,
  heights: readonly bigint[],
  large: LargeBlocks,
): Promise<ReadBlock[]> {
  const ask = (some: readonly NodeRequest[]) => node.agreedMany(some);
  const infos = await readBlockInfos({ view: 'solid', ask, large }, heights);
  const blocks = await readWithIds(node, heights, large);
  return blocks.map(({ header, ids }, i) => ({ header, infos: inOrderOf(ids, infos[i] ?? [], header) }));
}

function inOrderOf(ids: readonly string[], infos: Infos, { height }: Header): Infos {
  const byId = new Map(infos.map((info) => [readHex(info.id, 'the id of a transaction', 32), info]));
  const ordered = ids.map((id) => byId.get(id)).filter((info) => info !== undefined);
  if (ordered.length !== ids.length || infos.length !== ids.length || new Set(ids).size !== ids.length)
    throw new ChainUnavailable(
      'trc20',
      `the nodes leave out transactions of the final block ${height}, or show others than it has`,
    );
  return ordered;
}

/** A final block with the ids of its transactions, which its own id stands for. */
export interface IdBlock {
  header: Header;
  ids: readonly string[];
}

/**
 * A block that was too large for an exchange that holds others has to be asked for alone: then it has more time.
 *
 * @throws ChainUnavailable, also where the nodes lack one of the blocks
 */
export async function readWithIds(
  node: Pick<TronNode, 'agreedMany'>,
  heights: readonly bigint[],
  large: LargeBlocks,
): Promise<IdBlock[]> {
  const isLarge = heights.some((height) => large.how(height) !== undefined);
  let answers: unknown[];
  try {
    answers = await node.agreedMany(
      heights.map((height) => ({ ...blockRequest('solid', height, true), isLarge })),
    );
  } catch (error) {
    if (mayBeTooLarge(error)) for (const height of heights) large.remember(height, 'alone');
    throw error;
  }
  return heights.map((height, i) => {
    const block = readResult(answers[i]);
    const header = readHeader(block);
    const ids = readIds(block);
    if (header === undefined || header.height !== height || header.isEmpty !== (ids.length === 0))
      throw new ChainUnavailable('trc20', `the nodes lack the final block ${height}`);
    return { header, ids };
  });
}

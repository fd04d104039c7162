import { AnswersDiffer, ChainUnavailable } from '../port/port-errors.ts';
import { isSurelyTooLarge, mayBeTooLarge } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { blockRequest, type Infos, readBlockInfos, readIds } from './block-infos.ts';
import { type Header, readHeader } from './headers.ts';
import type { LargeBlocks } from './large-blocks.ts';
import { ofView, type TronNode } from './node.ts';
import { readHex, readList, readRecord, readResult, tryRead } from './node-answers.ts';

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

type Agreeing = Pick<TronNode, 'agreedMany'>;

async function readEach(node: Agreeing, heights: readonly bigint[], isLarge: boolean): Promise<unknown[]> {
  const requests = heights.map((height) => ({ ...blockRequest('solid', height, true), isLarge }));
  return (await node.agreedMany(requests)).map(readResult);
}

/** Those that follow each other in one call. */
async function readRuns(node: Agreeing, heights: readonly bigint[], large: LargeBlocks): Promise<unknown[]> {
  const runs: bigint[][] = [];
  for (const height of heights) {
    const run = runs.at(-1);
    if (run?.at(-1) === height - 1n) run.push(height);
    else runs.push([height]);
  }
  const blocks: unknown[] = [];
  for (const run of runs) blocks.push(...(await readRun(node, run, large)));
  return blocks;
}

/** Each alone where nodes do not give several in one answer, or not these: some lack the call, and gateways forbid it. */
async function readRun(node: Agreeing, run: readonly bigint[], large: LargeBlocks): Promise<unknown[]> {
  const [first, ...others] = run;
  if (first === undefined || others.length === 0 || !large.comeInRuns)
    return await readEach(node, run, false);
  const range = { startNum: Number(first), endNum: Number(first) + run.length };
  const method = ofView('solid', 'getblockbylimitnext');
  try {
    const [answer] = await node.agreedMany([{ method, params: [range], isLarge: true, isOptional: true }]);
    const blocks = tryRead(() => readList(readRecord(readResult(answer), 'blocks').block, 'blocks')) ?? [];
    const isWhole = run.every((height, i) => tryRead(() => readHeader(blocks[i]))?.height === height);
    if (isWhole && blocks.length === run.length) return blocks;
  } catch (error) {
    if (mayBeTooLarge(error) && isSurelyTooLarge(error)) {
      const half = run.length >> 1;
      return [
        ...(await readRun(node, run.slice(0, half), large)),
        ...(await readRun(node, run.slice(half), large)),
      ];
    }
    if (!(error instanceof AnswersDiffer)) throw error;
  }
  large.refuseRuns();
  return await readEach(node, run, false);
}

/**
 * A block that was too large for an exchange that holds others has to be asked for alone: then it has more time.
 *
 * @throws ChainUnavailable, also where the nodes lack one of the blocks
 */
export async function readWithIds(
  node: Agreeing,
  heights: readonly bigint[],
  large: LargeBlocks,
): Promise<IdBlock[]> {
  const isLarge = heights.some((height) => large.how(height) !== undefined);
  let blocks: unknown[];
  try {
    blocks = isLarge ? await readEach(node, heights, isLarge) : await readRuns(node, heights, large);
  } catch (error) {
    if (mayBeTooLarge(error)) for (const height of heights) large.remember(height, 'alone');
    throw error;
  }
  return heights.map((height, i) => {
    const block = blocks[i];
    const header = readHeader(block);
    const ids = readIds(block);
    if (header === undefined || header.height !== height || header.isEmpty !== (ids.length === 0))
      throw new ChainUnavailable('trc20', `the nodes lack the final block ${height}`);
    return { header, ids };
  });
}

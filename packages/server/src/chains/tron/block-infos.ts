import { ChainUnavailable } from '../port/port-errors.ts';
import { isSurelyTooLarge, mayBeTooLarge } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import type { LargeBlocks } from './large-blocks.ts';
import { ofView, type TronView } from './node.ts';
import {
  isNothing,
  readHex,
  readList,
  readNumber,
  readRecord,
  readResult,
  unusable,
} from './node-answers.ts';

/** Few: an endpoint that limits the rate of calls answers some of them before it refuses one. */
const TRANSACTIONS_AT_ONCE = 8;
/** Then others have their turn, and the reading goes on with the next one. */
const PARTS_MS = 20_000;

/** What the transactions of a block have done, as it is kept (`reduced.ts`). */
export type Infos = readonly Record<string, unknown>[];

/** A way to ask: `agreedMany` for what decides, `callMany` for the newest blocks. */
export interface BlockCalls {
  view: TronView;
  ask: (requests: readonly NodeRequest[]) => Promise<unknown[]>;
  large: LargeBlocks;
}

/**
 * What the transactions of some blocks have done, in the order of the heights. Where that is too much for one exchange the blocks are read
 * one after the other, and one that still is its transactions: nobody can make a block that stops the reading. Which ones these are is
 * remembered, and so is what was read of them.
 *
 * @throws ChainUnavailable
 */
export async function readBlockInfos(calls: BlockCalls, heights: readonly bigint[]): Promise<Infos[]> {
  const method = ofView(calls.view, 'gettransactioninfobyblocknum');
  const { large } = calls;
  const [only, ...more] = heights;
  if (only !== undefined && more.length === 0 && large.how(only) === 'in parts')
    return [await readOneByOne(calls, only)];
  const isLarge = only !== undefined && more.length === 0 && large.how(only) === 'alone';
  try {
    const answers = await calls.ask(
      heights.map((height) => ({ method, params: [{ num: Number(height) }], isLarge })),
    );
    return heights.map((height, i) => readInfos(readResult(answers[i]), height));
  } catch (error) {
    if (!mayBeTooLarge(error) || only === undefined) throw error;
    const isSure = isSurelyTooLarge(error);
    const how = isSure && more.length === 0 ? 'in parts' : 'alone';
    for (const height of heights) large.remember(height, how);
    // Whoever gave no answer rests now: the next reading asks for each alone.
    if (!isSure) throw error;
    if (more.length === 0) return [await readOneByOne(calls, only)];
    const blocks: Infos[] = [];
    for (const height of heights) blocks.push(...(await readBlockInfos(calls, [height])));
    return blocks;
  }
}

async function readOneByOne({ view, ask, large }: BlockCalls, height: bigint): Promise<Infos> {
  const [answered] = await ask([{ ...blockRequest(view, height, true), isLarge: true }]);
  const block = readRecord(readResult(answered), 'a block');
  const ids = readIds(block);
  const hash = ids.length === 0 ? '' : readHex(block.blockID, 'the id of a block', 32);
  const method = ofView(view, 'gettransactioninfobyid');
  const missing = ids.filter((id) => large.info(hash, id) === undefined);
  const begunAtMs = performance.now();
  for (const some of slicesOf(missing, TRANSACTIONS_AT_ONCE)) {
    if (performance.now() - begunAtMs > PARTS_MS)
      throw new ChainUnavailable('trc20', `the large block ${height} is being read, and takes longer`);
    const answers = await ask(some.map((value) => ({ method, params: [{ value }], isLarge: true })));
    for (const [i, id] of some.entries()) {
      const answer = readResult(answers[i]);
      if (isNothing(answer) || readHex(readRecord(answer, 'a transaction').id, 'an id', 32) !== id)
        throw new ChainUnavailable('trc20', `the nodes lack a transaction of the block ${height}`);
      for (const info of readInfos([answer], height)) large.keep(hash, id, info);
    }
  }
  return ids.map((id) => large.info(hash, id) ?? noLongerKept(height));
}

function noLongerKept(height: bigint): never {
  throw new ChainUnavailable('trc20', `what was read of the block ${height} is kept no more`);
}

/** @param detail with its transactions, of which the ids are kept */
export const blockRequest = (view: TronView, height: bigint, detail: boolean): NodeRequest => ({
  method: ofView(view, 'getblock'),
  params: [{ id_or_num: String(height), detail }],
});

/** The ids of the transactions of a block, in order; none where the node does not have it. @throws ChainUnavailable */
export function readIds(block: unknown): string[] {
  const { transactions } = readRecord(block, 'a block');
  return readList(transactions ?? [], 'the transactions of a block').map((one) =>
    readHex(readRecord(one, 'a transaction').txID, 'the id of a transaction', 32),
  );
}

function readInfos(answer: unknown, height: bigint): Infos {
  const infos = readList(answer, 'the transactions of a block').map((one) =>
    readRecord(one, 'a transaction'),
  );
  if (infos.some((info) => readNumber(info.blockNumber, 'the block of a transaction') !== height))
    throw unusable('a transaction is of another block than was asked for');
  return infos;
}

import { ChainUnavailable } from '../port/port-errors.ts';
import { isAnswerTooLarge } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
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

const TRANSACTIONS_AT_ONCE = 64;

/** What the transactions of a block have done, as it is kept (`reduced.ts`). */
export type Infos = readonly Record<string, unknown>[];

/** A way to ask: `agreedMany` for what decides, `callMany` for the newest blocks. */
export interface BlockCalls {
  view: TronView;
  ask: (requests: readonly NodeRequest[]) => Promise<unknown[]>;
}

/**
 * What the transactions of some blocks have done, in the order of the heights. Where that is too much for one exchange the blocks are read
 * one after the other, and one that still is its transactions: nobody can make a block that stops the reading.
 *
 * @throws ChainUnavailable
 */
export async function readBlockInfos(calls: BlockCalls, heights: readonly bigint[]): Promise<Infos[]> {
  const method = ofView(calls.view, 'gettransactioninfobyblocknum');
  try {
    const answers = await calls.ask(heights.map((height) => ({ method, params: [{ num: Number(height) }] })));
    return heights.map((height, i) => readInfos(readResult(answers[i]), height));
  } catch (error) {
    if (!isAnswerTooLarge(error)) throw error;
    const [only, ...more] = heights;
    if (only === undefined) throw error;
    if (more.length === 0) return [await readOneByOne(calls, only)];
    const blocks: Infos[] = [];
    for (const height of heights) blocks.push(...(await readBlockInfos(calls, [height])));
    return blocks;
  }
}

async function readOneByOne({ view, ask }: BlockCalls, height: bigint): Promise<Infos> {
  const [block] = await ask([blockRequest(view, height, true)]);
  const method = ofView(view, 'gettransactioninfobyid');
  const infos: Record<string, unknown>[] = [];
  for (const some of slicesOf(readIds(readResult(block)), TRANSACTIONS_AT_ONCE)) {
    const answers = await ask(some.map((value) => ({ method, params: [{ value }] })));
    for (const [i, id] of some.entries()) {
      const answer = readResult(answers[i]);
      if (isNothing(answer) || readHex(readRecord(answer, 'a transaction').id, 'an id', 32) !== id)
        throw new ChainUnavailable('trc20', `the nodes lack a transaction of the block ${height}`);
      infos.push(...readInfos([answer], height));
    }
  }
  return infos;
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

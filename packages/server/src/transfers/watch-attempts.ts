import { ChainUnavailable } from '../chains/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import { auditJob } from './audit-job.ts';
import { checkFinalBlocks } from './final-blocks.ts';
import {
  type AttemptRow,
  type Closing,
  closeAttempts,
  markSent,
  readTransfers,
  signedOf,
} from './queries.ts';
import { judge } from './states.ts';
import { callForEach, tellOwners, type Work } from './work.ts';

/** When attempts that are out are expected to be final (Unix seconds of the merchant's clock), by their ids. */
export type Expected = ReadonlyMap<string, number>;

const expectedOf = (
  attempts: readonly AttemptRow[],
  said: readonly { finalAt?: number | undefined }[],
): Expected =>
  new Map(
    attempts.flatMap(({ attempt_id: id }, i): [string, number][] => {
      const finalAt = said[i]?.finalAt;
      return finalAt === undefined ? [] : [[id, finalAt]];
    }),
  );

/** Sends stored bytes. Whatever the node answers or fails to answer, they may be out: the chain decides. */
export async function sendSigned(work: Work, signed: readonly AttemptRow[]): Promise<Expected> {
  const answers = await callForEach(work, signed, (attempt) => broadcast(work, attempt));
  const ids = signed.map((attempt) => attempt.attempt_id);
  crashPoint('mark.before');
  await work.run.step((tx) => markSent(tx, work.merchant.merchantId, ids));
  crashPoint('mark.after-commit');
  const silence = answers.find((answer) => answer.silence !== undefined)?.silence;
  if (silence !== undefined) throw silence;
  return expectedOf(signed, answers);
}

/** What a node said to bytes, as far as it matters: nothing, or when they should be final. */
interface Answer {
  silence?: ChainUnavailable;
  finalAt?: number | undefined;
}

async function broadcast(work: Work, attempt: AttemptRow): Promise<Answer> {
  try {
    crashPoint('broadcast.before');
    const answer = await work.chain.broadcast(signedOf(attempt));
    crashPoint('broadcast.after');
    if (answer.result !== 'rejected') return { finalAt: answer.finalAt };
    const fields = { tx_id: attempt.tx_id, code: answer.code };
    work.deps.log.warn(fields, 'a node rejected a transaction; the chain decides');
    return {};
  } catch (error) {
    if (error instanceof ChainUnavailable) return { silence: error };
    throw error;
  }
}

/** Asks the chain about what is out, sends unseen bytes again, and writes down what is decided. */
export async function watchSent(work: Work, sent: readonly AttemptRow[]): Promise<Expected> {
  const looks = await callForEach(work, sent, (attempt) => look(work, attempt));
  crashPoint('watch.looked');
  const closings = looks.flatMap(({ closing }) => closing ?? []);
  if (closings.length > 0) {
    // What is decided in a block is compared with it from now on.
    const { finalHeight } = await work.chain.head();
    await checkFinalBlocks(work.deps, work.merchant, { network: work.chain.network, newest: finalHeight });
    await close(work, closings);
  }
  return expectedOf(sent, looks);
}

/** What one look has shown. */
interface Look {
  /** Where it is decided. */
  closing: Closing | undefined;
  finalAt: number | undefined;
}

async function look(work: Work, attempt: AttemptRow): Promise<Look> {
  const status = await work.chain.status(signedOf(attempt));
  const again = status.state === 'unknown' ? await broadcast(work, attempt) : undefined;
  const { isCharge } = work;
  const members = attempt.item_ids.map((transferId) => ({ transferId, isCharge }));
  const verdict = judge(status, members, work.chain.caps);
  const closing = verdict && {
    attempt,
    verdict,
    detail: status.reason ?? null,
    height: status.height ?? null,
  };
  return { closing, finalAt: status.finalAt ?? again?.finalAt };
}

async function close(work: Work, closings: readonly Closing[]): Promise<void> {
  const { run, merchant, groupIds, nowSeconds } = work;
  await run.step(async (tx) => {
    const closed = await closeAttempts(tx, merchant.merchantId, closings, nowSeconds);
    const over = new Set(
      closed.flatMap(({ verdict }) =>
        verdict.members.filter((member) => member.to !== 'queued').map((member) => member.transferId),
      ),
    );
    crashPoint('decide.closed');
    if (over.size > 0) {
      const transfers = await readTransfers(tx, merchant.merchantId, groupIds);
      await tellOwners(
        tx,
        work,
        transfers.filter((transfer) => over.has(transfer.transfer_id)),
      );
    }
    // Last, as it is one row for all groups of the network, which wait for each other from here to the commit.
    const { deps, chain } = work;
    await enqueue(tx, [auditJob(merchant.merchantId, chain.network, deps.clock.nowMs())]);
    crashPoint('decide.before-commit');
  });
  crashPoint('decide.after-commit');
}

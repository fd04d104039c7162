import { setTimeout as sleep } from 'node:timers/promises';
import { batchKey, type PlannedBatch } from '@florin/contract/payout-file';
import type { Florin, PayoutBatch } from '@florin/sdk';
import { CommandFailure, reasonOf } from './failure.ts';
import { noteProgress, noteToPeople } from './terminal.ts';

const POLL_MS = 1_000;
const OVER = new Set<PayoutBatch['status']>([
  'partially_completed',
  'completed',
  'failed',
  'canceled',
  'rejected',
]);
const FINDINGS_SHOWN = 20;

/** Creates a draft for each planned batch; nothing is paid by it. @throws CommandFailure that names those that were made */
export async function createBatches(
  { payouts }: Pick<Florin, 'payouts'>,
  planned: readonly PlannedBatch[],
  key: string | undefined,
): Promise<PayoutBatch[]> {
  const made: PayoutBatch[] = [];
  for (const [i, { currency, description, items }] of planned.entries()) {
    const input = {
      currency,
      items: items.map((item) => item.input),
      ...(description === undefined ? {} : { description }),
    };
    try {
      const idempotencyKey = await keyOf(key, i);
      made.push(await payouts.create(input, idempotencyKey === undefined ? {} : { idempotencyKey }));
    } catch (error) {
      throw incomplete(
        'created',
        error,
        made.map(({ batch_id }) => batch_id),
        planned.length,
      );
    }
    if (planned.length > 1) noteProgress(`created ${i + 1} of ${planned.length} batches`);
  }
  return made;
}

/**
 * The first batch gets the key as given, each further one a key derived from it and from its place. Whatever else a file
 * becomes, rows that were paid under a key come back as the same batch or are refused: a file that grows past one batch too.
 */
const keyOf = async (key: string | undefined, index: number): Promise<string | undefined> =>
  key === undefined || index === 0 ? key : await batchKey(key, index);

function incomplete(verb: string, error: unknown, ids: readonly string[], count: number): CommandFailure {
  const so = ids.length === 0 ? '' : ` ${ids.length} of ${count} batches were ${verb}: ${ids.join(', ')}.`;
  return new CommandFailure('incomplete', `${reasonOf(error)}${so}`, { cause: error });
}

const ITEM_FIELD = /^items\[(\d+)\]\.(\w+)$/;

/** What the service found wrong with items, by their places in the file. @returns whether there is anything */
export function noteFindings(batches: readonly PayoutBatch[], planned: readonly PlannedBatch[]): boolean {
  const lines = batches.flatMap(({ validation_errors }, i) =>
    validation_errors.map(({ field, message }) => {
      const [, index = '', name = ''] = ITEM_FIELD.exec(field) ?? [];
      const place = planned[i]?.items[Number(index)]?.locate(name) ?? field;
      return `${place}: ${message}`;
    }),
  );
  lines.slice(0, FINDINGS_SHOWN).forEach(noteToPeople);
  if (lines.length > FINDINGS_SHOWN) noteToPeople(`and ${lines.length - FINDINGS_SHOWN} more`);
  return lines.length > 0;
}

export async function submitBatches(
  { payouts }: Pick<Florin, 'payouts'>,
  batches: readonly PayoutBatch[],
): Promise<PayoutBatch[]> {
  const submitted: PayoutBatch[] = [];
  for (const { batch_id } of batches) {
    try {
      submitted.push(await payouts.submit(batch_id));
    } catch (error) {
      throw incomplete(
        'submitted',
        error,
        submitted.map((batch) => batch.batch_id),
        batches.length,
      );
    }
  }
  return submitted;
}

/** Reads batches until all are over, and says how far they are where that changes. */
export async function waitForBatches(
  { payouts }: Pick<Florin, 'payouts'>,
  submitted: readonly PayoutBatch[],
): Promise<PayoutBatch[]> {
  let batches = [...submitted];
  let shown = '';
  for (;;) {
    const progress = progressOf(batches);
    if (progress !== shown) noteProgress(progress);
    shown = progress;
    if (batches.every(({ status }) => OVER.has(status))) return batches;
    await sleep(POLL_MS);
    batches = await Promise.all(
      batches.map(async (batch) => (OVER.has(batch.status) ? batch : await payouts.retrieve(batch.batch_id))),
    );
  }
}

function progressOf(batches: readonly PayoutBatch[]): string {
  const sum = (count: (batch: PayoutBatch) => number) => batches.reduce((all, one) => all + count(one), 0);
  const [paid, failed] = [sum((one) => one.success_count), sum((one) => one.failed_count)];
  const waiting = batches.filter(({ status }) => status === 'pending_approval');
  const forApproval = waiting.length === 0 ? '' : `, ${waiting.length} waiting for approval`;
  return `${paid} of ${sum((one) => one.total_count)} paid, ${failed} failed${forApproval}`;
}

/** 0 where everybody is paid. */
export const outcomeOf = (batches: readonly PayoutBatch[]): number =>
  batches.every(({ status }) => status === 'completed') ? 0 : 1;

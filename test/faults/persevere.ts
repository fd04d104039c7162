import { setTimeout as sleep } from 'node:timers/promises';
import { Fail } from '../../packages/server/src/operator.ts';

const TIMEOUT_MS = 120_000;
const PAUSE_MS = 200;

/**
 * Does what a person does whose machine broke off: the same once more, until there is an answer. A refusal is one.
 *
 * @param work that makes no difference where it was done before
 */
export async function persevere<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + TIMEOUT_MS; ; await sleep(PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Fail || Date.now() > until) throw error;
    }
  }
}

/** As above, of what may be refused. @returns undefined for a refusal with one of these words in it */
export async function perseverePast<T>(
  refusals: readonly string[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await persevere(work);
  } catch (error) {
    if (error instanceof Fail && refusals.some((words) => error.message.includes(words))) return undefined;
    throw error;
  }
}

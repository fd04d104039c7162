import { Session } from 'node:inspector/promises';
import type { Logger } from './platform/observability/index.ts';

/** By then everything that prepares itself behind a start (pages, the workers' first rounds) has been loaded. */
const AFTER_START_MS = 5_000;

/** Collects the garbage of the process, as a debugger would: no flag of Node is needed. It stands still for 0.1 s. */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}

/**
 * Gives back the memory that only the start needed. Loading the code makes the heap's young generation grow to 67 MB,
 * and an idle process has no reason for the whole collection that would shrink it.
 */
export function collectGarbageOfStart(log: Logger): void {
  const collect = () => {
    collectGarbage().catch((error: unknown) => log.warn({ err: error }, 'garbage of the start is kept'));
  };
  setTimeout(collect, AFTER_START_MS).unref();
}

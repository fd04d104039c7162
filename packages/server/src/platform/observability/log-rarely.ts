import type { Logger } from './log.ts';

const EVERY_MS = 60_000;
/** What was told is forgotten beyond so many keys: a line too many is better than memory that grows. */
const KEYS_MAX = 10_000;

const told = new WeakMap<Logger, Map<string, number>>();

/** Whether a line that many jobs have the same reason to write is to be written now: once a minute for each key. */
export function isLineDue(log: Logger, key: string): boolean {
  const times = told.get(log) ?? new Map<string, number>();
  told.set(log, times);
  const nowMs = performance.now();
  const lastMs = times.get(key);
  if (lastMs !== undefined && nowMs - lastMs < EVERY_MS) return false;
  if (times.size >= KEYS_MAX) times.clear();
  times.set(key, nowMs);
  return true;
}

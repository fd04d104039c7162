import type { Logger } from './log.ts';

const EVERY_MS = 60_000;
/** With more keys than this all are forgotten: a line too many is better than memory that grows. */
const KEYS_MAX = 10_000;

const lastLines = new WeakMap<Logger, Map<string, number>>();

/** Limits a line that many jobs would write to one a minute for each key. @returns whether to write it now */
export function isLineDue(log: Logger, key: string): boolean {
  const times = lastLines.get(log) ?? new Map<string, number>();
  lastLines.set(log, times);
  const nowMs = performance.now();
  const lastMs = times.get(key);
  if (lastMs !== undefined && nowMs - lastMs < EVERY_MS) return false;
  if (times.size >= KEYS_MAX) times.clear();
  times.set(key, nowMs);
  return true;
}

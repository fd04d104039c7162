import { sql } from 'kysely';
import type { Db } from './db.ts';

const MEASURE_EVERY_MS = 10_000;

/** If a machine's clock differs from the database's by more than this, the machine is out of order. */
export const CLOCKS_AGREE_WITHIN_MS = 30_000;

/** `2026-11-21T10:00:00Z`, for people; null stays null. */
export function isoOf(unixMs: bigint | number | null): string | null {
  return unixMs === null ? null : new Date(Number(unixMs)).toISOString().replace('.000Z', 'Z');
}

/** Parses an ISO 8601 time with a zone; undefined for any other text. */
export function unixMsOf(iso: string): number | undefined {
  const unixMs = /^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:?\d\d)$/.test(iso)
    ? Date.parse(iso)
    : Number.NaN;
  return Number.isNaN(unixMs) ? undefined : unixMs;
}

/**
 * The only source of time. Decisions use the database's time, so that nodes with different clocks agree. Between two
 * measurements the time advances with the process's monotonic counter, so setting the machine's clock has no effect.
 */
export class Clock {
  /** The database's time less the counter; before the first measurement, the machine's time less the counter. */
  #baseMs = Date.now() - performance.now();
  #offsetMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Real time in Unix milliseconds, by the database's clock. */
  nowMs(): number {
    return Math.round(this.#baseMs + performance.now());
  }

  /** Real time in whole Unix seconds, by the database's clock. */
  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  /**
   * How far this machine's clock was from the database's at the last measurement, in milliseconds (positive: the
   * database is ahead).
   */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Reads the database's time. Half of the round trip counts as the time of the request. */
  async measure(db: Db): Promise<void> {
    const before = performance.now();
    const { rows } = await sql<{ now_ms: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
    const after = performance.now();
    const [row] = rows;
    if (row === undefined) return;
    this.#baseMs = row.now_ms - (before + after) / 2;
    this.#offsetMs = Math.round(this.#baseMs + performance.now() - Date.now());
  }

  /** Measures now and every 10 s. If a measurement fails, the last one stays valid. */
  async follow(db: Db): Promise<void> {
    await this.measure(db);
    this.#timer = setInterval(() => void this.measure(db).catch(() => {}), MEASURE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

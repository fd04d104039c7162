import { sql } from 'kysely';
import type { Db } from './db.ts';

const MEASURE_EVERY_MS = 10_000;

/** A machine whose clock is further off than this from the database's is out of order. */
export const CLOCKS_AGREE_WITHIN_MS = 30_000;

/** `2026-11-21T10:00:00Z`, for people; null stays null. */
export function isoOf(unixMs: bigint | number | null): string | null {
  return unixMs === null ? null : new Date(Number(unixMs)).toISOString().replace('.000Z', 'Z');
}

/** Reads an ISO 8601 time with its zone, as others write it; undefined for anything else. */
export function unixMsOf(iso: string): number | undefined {
  const unixMs = /^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:?\d\d)$/.test(iso)
    ? Date.parse(iso)
    : Number.NaN;
  return Number.isNaN(unixMs) ? undefined : unixMs;
}

/**
 * The one door to time. Decisions use the database's time, so that nodes whose clocks differ agree. Between two
 * measurements it goes on with the process's steady counter: somebody who sets the machine's clock moves nothing.
 */
export class Clock {
  /** The database's time less the counter. Before the first measurement the machine's clock has to do. */
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

  /** Asks the database for its time; half of the round trip is taken as the way there. */
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

  /** Measures now and every 10 s; a measurement that fails keeps the last one. */
  async follow(db: Db): Promise<void> {
    await this.measure(db);
    this.#timer = setInterval(() => void this.measure(db).catch(() => {}), MEASURE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

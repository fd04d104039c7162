import { sql } from 'kysely';
import type { Db } from './db.ts';

const MEASURE_EVERY_MS = 30_000;

/** `2026-11-21T10:00:00Z`, for people; null stays null. */
export function isoOf(unixMs: bigint | number | null): string | null {
  return unixMs === null ? null : new Date(Number(unixMs)).toISOString().replace('.000Z', 'Z');
}

/** The one door to time. Decisions use the database's time, so that nodes whose clocks differ agree. */
export class Clock {
  #offsetMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Real time in Unix milliseconds, by the database's clock. */
  nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Real time in whole Unix seconds, by the database's clock. */
  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  /** How far this machine's clock is from the database's, in milliseconds (positive: the database is ahead). */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Asks the database for its time; half of the round trip is taken as the way there. */
  async measure(db: Db): Promise<void> {
    const before = Date.now();
    const { rows } = await sql<{ now_ms: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
    const after = Date.now();
    if (rows[0] !== undefined) this.#offsetMs = Math.round(rows[0].now_ms - (before + after) / 2);
  }

  /** Measures now and every 30 s; a measurement that fails keeps the last offset. */
  async follow(db: Db): Promise<void> {
    await this.measure(db);
    this.#timer = setInterval(() => void this.measure(db).catch(() => {}), MEASURE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

import type { SourceFailed, SourceQuote } from './port.ts';
import { medianRate, movedBeyond, type Rate, sortedRates } from './rate.ts';
import type { RateRefusal } from './refused.ts';

/** What one source said to a pair. */
export type Said = SourceQuote | SourceFailed;

export interface Limits {
  nowMs: number;
  maxAgeMs: number;
  /** How far a source may be from the one in the middle, in hundredths of a percent. */
  maxDeviationBasisPoints: number;
}

/** Per source, in their order, what is wrong with what it said; null where it counts. */
export type Faults = readonly (RateRefusal | null)[];

export type Agreement = { faults: Faults } & ({ rate: Rate } | { refusal: RateRefusal });

/** The more telling one is named where sources fail in different ways. */
const TELLING = ['stale', 'invalid', 'no_rate'] as const;

/**
 * The median of the sources that agree. They have to be more than half of all that are configured: one that is down,
 * old or lying is outvoted by two others, and two that contradict each other decide nothing.
 */
export function agree(said: readonly Said[], limits: Limits): Agreement {
  const fresh = said.map((one) => faultOf(one, limits) ?? (one as SourceQuote).rate);
  const rates = fresh.filter((one) => typeof one === 'object');
  const middle = sortedRates(rates)[(rates.length - 1) >> 1];
  const judged = fresh.map((one) => {
    if (typeof one === 'string' || middle === undefined) return one;
    return movedBeyond(one, middle, limits.maxDeviationBasisPoints) ? 'deviating' : one;
  });
  const agreeing = judged.filter((one) => typeof one === 'object');
  const faults = judged.map((one) => (typeof one === 'object' ? null : one));
  if (isMajority(agreeing.length, said.length)) return { rate: medianRate(agreeing), faults };
  if (isMajority(rates.length, said.length)) return { refusal: 'deviating', faults };
  return { refusal: TELLING.find((reason) => faults.includes(reason)) ?? 'no_rate', faults };
}

function faultOf(one: Said, { nowMs, maxAgeMs }: Limits): RateRefusal | undefined {
  if (one instanceof Error) return one.reason;
  return nowMs - one.atMs > maxAgeMs ? 'stale' : undefined;
}

function isMajority(count: number, all: number): boolean {
  return count * 2 > all;
}

import type { SourceFailed, SourceQuote } from './port.ts';
import { medianRate, movedBeyond, type Rate, sortedRates } from './rate.ts';
import type { RateRefusal } from './refused.ts';

/** The answer of one source for a pair. */
export type SourceAnswer = SourceQuote | SourceFailed;

export interface Limits {
  nowMs: number;
  maxAgeMs: number;
  /** Maximum distance of a source from the median, in hundredths of a percent. */
  maxDeviationBasisPoints: number;
}

/** For each source, in order, the fault of its answer; null where the answer counts. */
export type Faults = readonly (RateRefusal | null)[];

export type Agreement = { faults: Faults } & ({ rate: Rate } | { refusal: RateRefusal });

/** Where sources fail in different ways, the first of these is the reason. */
const MOST_SPECIFIC = ['stale', 'invalid', 'no_rate'] as const;

/**
 * The median of the agreeing sources, which must be more than half of all configured ones: two sources outvote one that is
 * down, stale or wrong, and two that contradict each other give no rate.
 */
export function agree(answers: readonly SourceAnswer[], limits: Limits): Agreement {
  const fresh = answers.map((answer) => freshRate(answer, limits));
  const rates = fresh.filter((answer) => typeof answer === 'object');
  const middle = sortedRates(rates)[(rates.length - 1) >> 1];
  const judged = fresh.map((answer) => {
    if (typeof answer === 'string' || middle === undefined) return answer;
    return movedBeyond(answer, middle, limits.maxDeviationBasisPoints) ? 'deviating' : answer;
  });
  const agreeing = judged.filter((answer) => typeof answer === 'object');
  const faults = judged.map((answer) => (typeof answer === 'object' ? null : answer));
  if (isMajority(agreeing.length, answers.length)) return { rate: medianRate(agreeing), faults };
  if (isMajority(rates.length, answers.length)) return { refusal: 'deviating', faults };
  return { refusal: MOST_SPECIFIC.find((reason) => faults.includes(reason)) ?? 'no_rate', faults };
}

function freshRate(answer: SourceAnswer, { nowMs, maxAgeMs }: Limits): Rate | RateRefusal {
  if (answer instanceof Error) return answer.reason;
  return nowMs - answer.atMs > maxAgeMs ? 'stale' : answer.rate;
}

function isMajority(count: number, all: number): boolean {
  return count * 2 > all;
}

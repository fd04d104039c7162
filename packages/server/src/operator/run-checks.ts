import { explain } from './explain.ts';

/** A check: its name, and what finds its result. */
export type Check<Name extends string, Finding> = readonly [Name, () => Finding | Promise<Finding>];

/** Runs the checks in order. One that throws is a finding as well: `failed` makes it of the error's text and of advice. */
export async function runChecks<Name extends string, Finding extends object>(
  checks: readonly Check<Name, Finding>[],
  failed: (found: string, advice: string) => Finding,
): Promise<({ check: Name } & Finding)[]> {
  const results: ({ check: Name } & Finding)[] = [];
  for (const [check, find] of checks) {
    try {
      results.push({ check, ...(await find()) });
    } catch (error) {
      results.push({ check, ...failed(messageOf(error), MEND_FIRST) });
    }
  }
  return results;
}

export const MEND_FIRST = 'Mend this first, then check again.';

/** One line for an operator, of a bug of ours as well. */
export const messageOf = (error: unknown): string =>
  explain(error)?.message ?? (error instanceof Error ? error.message : String(error));

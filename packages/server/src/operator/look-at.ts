import { explain } from './explain.ts';

/** Something to look at: its name, and what was found. */
export type Look<Name extends string, Finding> = readonly [Name, () => Finding | Promise<Finding>];

/** Looks one after the other. What throws is a finding as well, made by `failed` of what the error says and of advice. */
export async function lookAt<Name extends string, Finding extends object>(
  looks: readonly Look<Name, Finding>[],
  failed: (found: string, advice: string) => Finding,
): Promise<({ check: Name } & Finding)[]> {
  const checks: ({ check: Name } & Finding)[] = [];
  for (const [check, look] of looks) {
    try {
      checks.push({ check, ...(await look()) });
    } catch (error) {
      checks.push({ check, ...failed(messageOf(error), MEND_FIRST) });
    }
  }
  return checks;
}

export const MEND_FIRST = 'Mend this first, then look again.';

/** One line for an operator, of a bug of ours as well. */
export const messageOf = (error: unknown): string =>
  explain(error)?.message ?? (error instanceof Error ? error.message : String(error));

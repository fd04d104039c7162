/** How the parts of a run ended. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The last line of every run. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Finds the closing line at the end of what a run printed; undefined where the run never got there. */
export function readClosingLine(output: string): Counts | undefined {
  const found = /(?<!\d)(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(output.trimEnd());
  if (found === null) return undefined;
  return { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(found[3]) };
}

export function sum(parts: readonly Counts[]): Counts {
  return parts.reduce(
    (total, part) => ({
      passed: total.passed + part.passed,
      failed: total.failed + part.failed,
      skipped: total.skipped + part.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** `late`: what a test waited for did not come in time; nothing that came was wrong. */
export type Failing = 'wrong' | 'late';
const MARKS: Readonly<Record<Failing, string>> = { wrong: 'failed: ', late: 'failed, late: ' };

/** A line for each thing that failed, which stands before the closing line: a long run is read from its end. */
export function failureLine(what: string, why = '', failing: Failing = 'wrong'): string {
  const [reason = ''] = why.trim().split('\n', 1);
  return `${MARKS[failing]}${what}${reason === '' ? '' : `: ${reason}`}`;
}

export function readFailures(output: string): string[] {
  return output.split('\n').filter((line) => Object.values(MARKS).some((mark) => line.startsWith(mark)));
}

/** More than these are no noise of the machine. */
const LATE_FILES = 2;

/**
 * The files to ask once more, with nothing beside them: all failures of a run are late, and of one or two files. Empty where any
 * of them was wrong.
 *
 * @param failures as `readFailures` gives them
 * @returns paths from the project's root
 */
export function lateFiles(failures: readonly string[]): string[] {
  const found = failures.map((line) => /^failed, late: (\S+\.test\.ts) > /.exec(line)?.[1]);
  const files = new Set(found.filter((file) => file !== undefined));
  return found.includes(undefined) || files.size > LATE_FILES ? [] : [...files];
}

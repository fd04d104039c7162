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

const FAILED_MARK = 'failed: ';

/** A line for each thing that failed, which stands before the closing line: a long run is read from its end. */
export function failureLine(what: string, why = ''): string {
  const [reason = ''] = why.trim().split('\n', 1);
  return `${FAILED_MARK}${what}${reason === '' ? '' : `: ${reason}`}`;
}

export function readFailures(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith(FAILED_MARK));
}

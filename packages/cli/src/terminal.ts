/** A closed reader (`florin … | head`, a closed terminal) must neither fail the command nor stop a service. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** A note on standard error, so that piped output stays clean. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Printed on terminals only. */
export function noteProgress(line: string): void {
  if (process.stderr.isTTY) noteToPeople(line);
}

let isForPrograms = false;

/** With `--json` nothing but JSON is written on standard error. */
export function speakToPrograms(): void {
  isForPrograms = true;
}

/** A note that `--json` leaves out: what it says is in the answer. */
export function noteToPeople(line: string): void {
  if (!isForPrograms) note(line);
}

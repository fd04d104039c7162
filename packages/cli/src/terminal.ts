/** A reader that went away (`florin … | head`, a closed terminal) is no reason to fail or to stop serving. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** A line beside the result: on standard error, so that what is piped on stays clean. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** For a person who watches; silent in a pipe or a log. */
export function noteProgress(line: string): void {
  if (process.stderr.isTTY) note(line);
}

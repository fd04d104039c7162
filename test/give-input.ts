import type { Writable } from 'node:stream';

/** Writes to a process all that it gets. One that has ended without reading it is judged by its exit code, not by a broken pipe. */
export function giveInput(stdin: Writable, text: string): void {
  stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  stdin.end(text);
}

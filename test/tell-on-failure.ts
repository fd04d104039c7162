import { onTestFailed } from 'vitest';

/** A wait that ends says only what it waited for: the first line of a failure says what there was instead, too. Within a test. */
export function tellOnFailure(show: () => Promise<string> | string): void {
  onTestFailed(async ({ task }) => {
    const error = task.result?.errors?.[0];
    if (error === undefined) return;
    const shown = (await show()).replaceAll(/\s+/g, ' ');
    // A function, as a page may show a dollar sign, which a replacement would read.
    if (shown !== '') error.message = error.message.replace(/$/m, () => `; ${shown}`);
  });
}

/**
 * Callers share one reading while it lasts, and its result for a while afterwards. A failure is not kept.
 *
 * @param keepMsOf how long a result is kept, by how long reading took
 */
export function shareReads<T>(
  read: () => Promise<T>,
  keepMsOf: (tookMs: number) => number,
): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let keepUntilMs = 0;
  const readAnew = async () => {
    const startedMs = performance.now();
    const result = await read();
    const endedMs = performance.now();
    keepUntilMs = endedMs + keepMsOf(endedMs - startedMs);
    return result;
  };
  return () => {
    if (reading === undefined || (keepUntilMs > 0 && performance.now() > keepUntilMs)) {
      keepUntilMs = 0;
      reading = readAnew();
      reading.catch(() => {
        reading = undefined;
      });
    }
    return reading;
  };
}

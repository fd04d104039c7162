/** Read once. Without FLORIN_TEST_BUILD=1 crash points do nothing. */
const armed = process.env.FLORIN_TEST_BUILD === '1' ? process.env.FLORIN_CRASH_POINT?.split(':') : undefined;
let left = Number(armed?.[1] ?? 1);

/**
 * A named place at which a test kills this process as a power failure would. FLORIN_CRASH_POINT=`name` dies at the first
 * pass, `name:k` at the k-th.
 */
export function crashPoint(
  name: 'sign.decided' | 'sign.journaled' | 'sign.signed' | 'epoch.journaled',
): void {
  if (armed?.[0] !== name) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

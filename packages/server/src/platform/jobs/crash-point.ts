import { processEnvironment } from '../config.ts';

interface Armed {
  name: string;
  /** Passes until the process dies. */
  left: number;
  signal: 'SIGKILL' | 'SIGSTOP';
}

/** Read once at the start of the process. Without FLORIN_TEST_BUILD=1 crash points do nothing. */
const armed = readArmed(processEnvironment());

function readArmed(env: Readonly<Record<string, string | undefined>>): Armed | undefined {
  if (env.FLORIN_TEST_BUILD !== '1' || env.FLORIN_CRASH_POINT === undefined) return undefined;
  const [name = '', passes = '1'] = env.FLORIN_CRASH_POINT.split(':');
  const signal = env.FLORIN_CRASH_SIGNAL === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';
  return { name, left: Number(passes), signal };
}

/**
 * A named place at which a test kills this process as a power failure would: no handler runs, nothing is flushed.
 * FLORIN_CRASH_POINT=`name` dies at the first pass, `name:k` at the k-th. Without it this compares one variable.
 * FLORIN_CRASH_SIGNAL=SIGSTOP freezes it instead, until it gets SIGCONT.
 */
export function crashPoint(name: string): void {
  if (armed === undefined || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left === 0) process.kill(process.pid, armed.signal);
}

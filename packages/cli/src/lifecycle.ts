import { note } from './terminal.ts';

/** Terminal and npm both forward Ctrl-C; signals within this time count once. */
const SAME_SIGNAL_MS = 300;
/** Supervisors usually wait ten seconds before they kill. */
const STOP_MAX_MS = 9_500;
const PARENT_LOOK_MS = 500;
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Calls back once when the parent has exited. npm forwards a signal to the shell in between, which exits without a
 * signal to us: the service would be left running unnoticed.
 */
function onOrphaned(listener: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    listener();
  }, PARENT_LOOK_MS);
  timer.unref();
}

/** The first signal stops gracefully, a second one exits at once with code 1. */
class StopRequest {
  readonly made: Promise<void>;
  isMade = false;
  #madeAtMs = 0;
  #watchdog: NodeJS.Timeout | undefined;

  constructor() {
    this.made = new Promise((resolve) => {
      for (const signal of STOP_SIGNALS) process.on(signal, () => this.#onSignal(resolve));
      if (process.env.npm_lifecycle_event !== undefined) onOrphaned(() => this.#onSignal(resolve));
    });
  }

  /** Everything is stopped; the watchdog ends the process if it does not exit. */
  done(): void {
    this.#watchdog?.unref();
  }

  #onSignal(resolve: () => void): void {
    if (this.isMade) {
      if (performance.now() - this.#madeAtMs > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    this.isMade = true;
    this.#madeAtMs = performance.now();
    note('stopping…');
    this.#watchdog = setTimeout(() => {
      note('florin: did not stop in time, so it ends the hard way.');
      process.exit(1);
    }, STOP_MAX_MS);
    resolve();
  }
}

/**
 * Starts a service, runs it until a signal, and stops it gracefully. A signal during the start waits for the start,
 * so that nothing is left half open.
 */
export async function runUntilSignal<T extends Stoppable>(
  start: () => Promise<T>,
  onReady: (running: T) => void,
): Promise<void> {
  const request = new StopRequest();
  try {
    const running = await start();
    if (!request.isMade) onReady(running);
    await request.made;
    await running.stop();
  } finally {
    request.done();
  }
}

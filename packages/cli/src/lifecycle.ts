import { note } from './terminal.ts';

/** Terminal and npm both pass Ctrl-C on: what comes this soon is the same wish. */
const SAME_SIGNAL_MS = 300;
/** Whoever stops us gives ten seconds. */
const STOP_MAX_MS = 9_500;
const PARENT_LOOK_MS = 500;
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Calls back once when the parent is gone. npm passes a signal on to the shell between, which dies of it without a
 * word to us: the service would stay behind with nobody who knows of it.
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

/** The first signal asks for an orderly end, a second one ends the process at once with code 1. */
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

  /** From here on nothing but the end of the process is missing; the watchdog sees to that too. */
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
 * Starts a service, keeps it until a signal, and stops it in order. A signal during the start waits for the start,
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

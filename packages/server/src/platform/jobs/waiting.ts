import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time, or at once when the signal is aborted. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}

/** Wakes one waiter. A wake-up without a waiter is kept for the next one. */
export class WakeSignal {
  #isSet = false;
  #resume: (() => void) | undefined;

  wake(): void {
    this.#isSet = true;
    this.#resume?.();
  }

  /** Resolves at the next wake-up, or after the time. */
  async wait(ms: number): Promise<void> {
    if (!this.#isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resume = undefined;
    }
    this.#isSet = false;
  }
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Concurrent uploads that leave enough garbage to collect. */
const MANY = 256;
/** By then an idle node is quiet, and V8 returns free memory to the system. */
const QUIET_MS = 15_000;

/**
 * Collects garbage once after many concurrent uploads. V8 collects when more garbage comes, which on an idle node takes
 * hours.
 */
export class UploadBurst {
  #underWay = 0;
  #most = 0;
  #isDue = false;

  begin(): void {
    this.#underWay += 1;
    this.#most = Math.max(this.#most, this.#underWay);
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    const wasBurst = this.#most >= MANY;
    this.#most = 0;
    if (!wasBurst || this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.#collect(), QUIET_MS).unref();
  }

  #collect(): void {
    this.#isDue = false;
    // The only access to the collector for a process that was started without --expose-gc.
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
  }
}

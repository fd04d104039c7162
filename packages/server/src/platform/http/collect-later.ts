import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Uploads at once that leave a heap worth looking through. */
const MANY = 256;
/** By then a node that has nothing else to do is quiet, and V8 gives what is free back to the system. */
const QUIET_MS = 15_000;

/**
 * Collects garbage once after many uploads at once. V8 does so when more garbage comes, and on a node that has nothing to
 * do none comes for hours.
 */
export class Flood {
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
    const wasFlood = this.#most >= MANY;
    this.#most = 0;
    if (!wasFlood || this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.#collect(), QUIET_MS).unref();
  }

  #collect(): void {
    this.#isDue = false;
    // The one way to the collector for a process that was started without the flag.
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
  }
}

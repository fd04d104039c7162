// The sandbox, as `florin start` starts it. Says when it is ready, and how it went; told anything, it says what it holds
// in memory once its garbage is collected.
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { processEnvironment, readConfig, startSandbox } from '../../packages/server/src/operator.ts';
import { say, untilTold } from '../child.ts';
import { machineMs } from '../queue/queues.ts';

/** Megabytes (10^6 bytes): what the process has in RAM, and what of it are objects. */
export interface Held {
  residentMegabytes: number;
  objectMegabytes: number;
}

const running = await startSandbox(readConfig(processEnvironment(), {}, { logLevel: 'warn' }));
untilTold(() => running.stop());
createInterface({ input: process.stdin }).on('line', () => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { rss, heapUsed } = process.memoryUsage();
  say({ residentMegabytes: rss / 1e6, objectMegabytes: heapUsed / 1e6 } satisfies Held);
});
say({ readyMs: machineMs(), firstStart: running.firstStart, databaseFolder: running.databaseFolder });

// The sandbox, as `florin start` starts it. Says when it is ready, and how it went.
import { processEnvironment, readConfig, startSandbox } from '../../packages/server/src/operator.ts';
import { say, untilTold } from '../child.ts';
import { machineMs } from '../queue/queues.ts';

const running = await startSandbox(readConfig(processEnvironment(), {}, { logLevel: 'warn' }));
untilTold(() => running.stop());
say({ readyMs: machineMs(), firstStart: running.firstStart, databaseFolder: running.databaseFolder });

// One worker, as `florin work` starts it; the settings come by the environment.
import { processEnvironment, readConfig, work } from '../../packages/server/src/operator.ts';
import { say, untilTold } from '../child.ts';

const running = await work(readConfig(processEnvironment(), {}, { logLevel: 'warn' }));
untilTold(() => running.stop());
say({});

// One API node, as `florin serve` starts it; the settings come by the environment. Says where it listens.
import { processEnvironment, readConfig, serve } from '../../packages/server/src/operator.ts';
import { say, untilTold } from '../child.ts';

const running = await serve(readConfig(processEnvironment(), {}, { logLevel: 'warn' }));
untilTold(() => running.stop());
say({ baseUrl: running.baseUrl });

// One process of the service as `florin serve` or `florin work` starts it, for a harness that kills it. Argument:
// serve or work. Says on standard output where it listens, as soon as it is up.
import { serve, work } from '../../packages/server/src/main.ts';
import { processEnvironment, readConfig } from '../../packages/server/src/platform/config.ts';

const config = readConfig(processEnvironment(), {}, { logLevel: 'warn' });
const running = process.argv[2] === 'work' ? await work(config) : await serve(config);
process.stdout.write(`${JSON.stringify({ baseUrl: running.baseUrl ?? null })}\n`);
process.once('SIGTERM', () => void running.stop());
// Nobody is left to stop it once the harness is gone, even by SIGKILL.
process.stdin
  .on('end', () => process.kill(process.pid, 'SIGKILL'))
  .resume()
  .unref();

import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, spawnOptions } from './account.ts';

interface LaunchOptions {
  postgres: string;
  cluster: string;
  account: Account | undefined;
  durable: boolean;
  onLog: (line: string) => void;
}

const TAIL_LINES = 20;
const ATTEMPTS = 10;
const RETRY_MS = 300;

/**
 * Transient causes: another process took the port between our check and the server's bind; backends of
 * a server that was killed are still on their way out.
 */
const PASSING_CAUSES = ['Address already in use', 'pre-existing shared memory block'];

/** PostgreSQL logs every ten seconds while it recovers; silence for this long means that it is stuck. */
const SILENCE_MS = 60_000;

/** Settings for tests: fast, without durability. */
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts a server on a free loopback port and waits until it takes connections.
 * @throws with the end of its log where it does not come up.
 */
export async function launch(options: LaunchOptions): Promise<{ pid: number; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const outcome = await launchOn(port, options);
    if ('pid' in outcome) return { pid: outcome.pid, port };
    const passing = outcome.tail.some((line) => PASSING_CAUSES.some((cause) => line.includes(cause)));
    if (!passing || attempt === ATTEMPTS) {
      throw new Error(`PostgreSQL did not start (${outcome.cause}):\n${outcome.tail.join('\n')}`);
    }
    await sleep(RETRY_MS);
  }
}

type Outcome = { pid: number } | { cause: string; tail: string[] };

function launchOn(port: number, options: LaunchOptions): Promise<Outcome> {
  const child = spawn(options.postgres, argumentsFor(port, options), {
    ...spawnOptions(options.account),
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: Ctrl+C in a terminal must not stop the database under a service that is draining.
    detached: true,
  });
  return new Promise((resolve) => {
    const tail: string[] = [];
    const stuck = setTimeout(() => {
      child.kill('SIGQUIT');
      resolve({ cause: `silent for ${SILENCE_MS / 1000} s`, tail });
    }, SILENCE_MS);
    const settle = (outcome: Outcome) => {
      clearTimeout(stuck);
      resolve(outcome);
    };
    onLine(child, (line) => {
      stuck.refresh();
      if (tail.push(line) > TAIL_LINES) tail.shift();
      options.onLog(line);
      if (line.includes('ready to accept connections')) settle({ pid: child.pid ?? 0 });
    });
    child.once('error', (error) => settle({ cause: error.message, tail }));
    // `close` and not `exit`: by then the last lines of the log have arrived.
    child.once('close', (code, signal) => {
      options.onLog(`PostgreSQL ended (${signal ?? `exit ${code}`})`);
      settle({ cause: signal ?? `exit ${code}`, tail });
    });
  });
}

function argumentsFor(port: number, { cluster, durable }: LaunchOptions): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : NOT_DURABLE),
  ];
  return ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
}

/** Reads the log to its end, even when nobody waits for it any more: a full pipe would stop the server. */
function onLine(child: ChildProcess, listener: (line: string) => void): void {
  if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', listener);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<unknown>((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port on 127.0.0.1');
  return address.port;
}

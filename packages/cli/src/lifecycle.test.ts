import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

const LIFECYCLE = new URL('./lifecycle.ts', import.meta.url).href;

/** Starts a process with a service that ends by `stop`, and waits until it is ready. */
async function run(stop: string, env: NodeJS.ProcessEnv = {}) {
  const script = `import { runUntilSignal } from '${LIFECYCLE}';
    const keepAlive = setInterval(() => {}, 1_000);
    const running = { stop: async () => { ${stop} } };
    await runUntilSignal(async () => running, () => console.log('ready'));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, npm_lifecycle_event: undefined, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const exit = new Promise<number | null>((resolve) => void child.once('exit', resolve));
  return { child, exit };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('the first signal stops it gracefully with 0', async () => {
  const { child, exit } = await run('clearInterval(keepAlive)');
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('the same signal from terminal and npm counts once', async () => {
  const { child, exit } = await run('setTimeout(() => clearInterval(keepAlive), 600)');
  // Two of one kind that arrive together are one to Linux.
  child.kill('SIGINT');
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('a later signal ends it at once with 1', async () => {
  const { child, exit } = await run('await new Promise(() => {})');
  child.kill('SIGTERM');
  await pause(2_000);
  const askedAtMs = performance.now();
  child.kill('SIGTERM');
  expect(await exit).toBe(1);
  // Not the ten seconds of the first one.
  expect(performance.now() - askedAtMs).toBeLessThan(7_000);
});

test('a service that does not stop is ended within ten seconds, with 1', async () => {
  const { child, exit } = await run('await new Promise(() => {})');
  const askedAtMs = performance.now();
  child.kill('SIGTERM');
  expect(await exit).toBe(1);
  expect(performance.now() - askedAtMs).toBeLessThan(20_000);
});

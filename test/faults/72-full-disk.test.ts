import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Exchange } from './good-client.ts';
import { World } from './world.ts';

const CHUNK = Buffer.alloc(64 * 1024);
const RECOVERS_WITHIN_MS = 60_000;
const ITEMS = 100;

const mount = (folder: string) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', folder], { stdio: 'pipe' });
const unmount = (folder: string) => execFileSync('umount', [folder], { stdio: 'pipe' });

/** A disk that can be filled without harm to others takes the right to mount. */
function whyNot(): string | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-mount-'));
  try {
    mkdirSync(path.join(folder, 'disk'));
    mount(path.join(folder, 'disk'));
    unmount(path.join(folder, 'disk'));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const reason = whyNot();
if (reason !== undefined) console.log(`fault 72 is skipped: no disk of its own can be mounted (${reason})`);

let world: World;
let disk = '';

beforeAll(async () => {
  if (reason !== undefined) return;
  const prepare = async (folder: string) => {
    disk = path.join(folder, 'postgres');
    await mkdir(disk);
    mount(disk);
  };
  const cleanUp = async () => void unmount(disk);
  world = await World.open({ servers: 2, workers: 1, database: { prepare, cleanUp } });
}, 120_000);
afterAll(() => world?.close());

/** Takes all that is left of the disk. */
async function fill(): Promise<void> {
  const file = await open(path.join(disk, 'ballast'), 'a');
  try {
    for (;;) await file.write(CHUNK);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    await file.close();
  }
}
const free = () => rm(path.join(disk, 'ballast'));

/** Writes until one is refused. @returns every answer */
async function writeUntilRefused(): Promise<Exchange[]> {
  const answers: Exchange[] = [];
  for (const until = Date.now() + RECOVERS_WITHIN_MS; Date.now() < until; ) {
    const body = { currency: 'USDT', items: world.items('erc20', ITEMS) };
    const idempotencyKey = `full-${answers.length}-${Date.now()}`;
    answers.push(await world.merchant.request('POST', '/payout-batches', { body, idempotencyKey }));
    if (answers.at(-1)?.status === 503) return answers;
  }
  return answers;
}

/** What a supervisor does with a server that gave up on its own disk. */
async function superviseUntilUp(): Promise<void> {
  await sleep(500);
  try {
    await world.database.query('select');
  } catch {
    await world.database.stop();
    await world.startDatabase();
  }
}

test.skipIf(reason !== undefined)(
  'fault 72: the disk is full for data: 503 without any effect, and all resumes',
  {
    timeout: 180_000,
  },
  async () => {
    await world.merchant.submit(await world.merchant.create(world.items('trc20', 2)));
    await fill();
    const answers = await writeUntilRefused();
    expect(answers.at(-1)).toMatchObject({ status: 503, answer: { errorCode: 'service_unavailable' } });
    await free();
    await superviseUntilUp();
    await world.merchant.submit(await world.merchant.create(world.items('trc20', 2)));
    expect(await world.judge()).toEqual([]);
  },
);

test.skipIf(reason !== undefined)(
  'fault 72: the disk is full for the log: the database dies of it, comes back, and nothing is lost',
  {
    timeout: 180_000,
  },
  async () => {
    await world.merchant.create(world.items('spl', 2));
    await fill();
    for (let segment = 0; segment < 40; segment++) {
      const left = await world.database
        .query("select pg_logical_emit_message(true, 'fill', repeat('x', 1000)), pg_switch_wal()")
        .catch(() => undefined);
      if (left === undefined) break;
    }
    const answers = await writeUntilRefused();
    expect(answers.at(-1)?.status).toBe(503);
    await free();
    await superviseUntilUp();
    await world.merchant.submit(await world.merchant.create(world.items('spl', 2)));
    expect(await world.judge()).toEqual([]);
  },
);

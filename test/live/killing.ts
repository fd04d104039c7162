import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, NodeUnderTest } from '../faults/node-under-test.ts';
import type { TestService } from '../service.ts';

/** A live store whose workers are processes of the test, on whichever network. */
export interface KilledStore {
  service: Pick<TestService, 'app'>;
  /** Of operators' commands, with the master key. */
  env: Readonly<Record<string, string>>;
}

export async function openWorker({ service, env }: KilledStore, name = 'worker'): Promise<NodeUnderTest> {
  const { databaseUrl } = service.app;
  const masterKey = env.FLORIN_MASTER_KEY ?? '';
  return await NodeUnderTest.open({ role: 'work', name, databaseUrl, chainUrl: databaseUrl, masterKey, env });
}

export interface Killing {
  /** Gives the workers something to do, once they are up and each time they have done it before all of them are dead. */
  give: () => Promise<void>;
  /** Absent: it is given once. */
  isDone?: () => Promise<boolean>;
  /** Makes a block. */
  mine: () => void | Promise<void>;
}

export const KILLED: Ended = { signal: 'SIGKILL', code: null };

/** Each worker ends at its point; all of them work at once until then. @returns how they ended */
export async function dieAt(
  workers: readonly { worker: NodeUnderTest; point: string }[],
  { give, isDone, mine }: Killing,
): Promise<Ended[]> {
  await Promise.all(
    workers.map(async ({ worker, point }) => {
      await worker.kill();
      await worker.start({ crashPoint: point });
    }),
  );
  await give();
  while (workers.some(({ worker }) => worker.isUp)) {
    await mine();
    await sleep(100);
    if ((await isDone?.()) === true) await give();
  }
  return await Promise.all(workers.map(({ worker }) => worker.ended));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, erc20Abi, parseEventLogs, parseGwei } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { readJournal } from '../../packages/signer/src/journal.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { WORKER_POINTS } from '../faults/seeded-plan.ts';
import { asOwner } from '../ledger.ts';
import { FULL, share } from '../scale.ts';
import { dieAt, KILLED, openWorker } from './killing.ts';
import { LiveStore, WITHIN } from './live-store.ts';

const LONG = { timeout: 600_000 };
/** Longer than a transaction may be in no block before it is replaced. */
const STUCK_SECONDS = 200;
const AMOUNT = 1_250_000n;
/** Where a signature is asked for, or a transaction may be on the chain and not in the database. Every point in a full run. */
const CHAIN_POINTS = /^(build|store|broadcast|mark|watch|decide)\./;
const POINTS = share(
  WORKER_POINTS.filter((point) => FULL || CHAIN_POINTS.test(point)),
  0,
  2,
);
const VERSION_POINTS = ['version.before', 'version.before-commit', 'version.after-commit'] as const;
const SIGNER_POINTS = ['sign.decided', 'sign.journaled', 'sign.signed'] as const;

describe.skipIf(!hasAnvil())('a worker and a signer that are killed while they send on a real node', () => {
  let store: Awaited<ReturnType<typeof LiveStore.startBesideProcess>>;
  let worker: NodeUnderTest;
  let recipients = 2_000;
  const batches: string[] = [];
  const paid: Address[] = [];

  beforeAll(async () => {
    store = await LiveStore.startBesideProcess((policy) => {
      policy.payouts.approve_above = '1000.00';
    }, false);
    worker = await openWorker(store);
    await worker.start();
    await store.paid(500);
  }, 240_000);
  afterAll(async () => {
    await worker?.close();
    await store?.stop();
  });

  /** Two items in one transaction. */
  async function submit(): Promise<string> {
    const to = [freshAddress(recipients++), freshAddress(recipients++)];
    paid.push(...to);
    const id = await store.submitted(to.map((address) => ({ address, amount: '1.25' })));
    batches.push(id);
    return id;
  }

  /** Mines block after block until it has happened. */
  async function mineUntil(hasHappened: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await hasHappened())) {
      await store.world.mine(1);
      await sleep(100);
    }
  }

  async function expectAllPaidOnce(): Promise<void> {
    for (const id of batches)
      await store.until(() => store.batch(id), { status: 'completed', success_count: 2 });
    const { client, tokens } = store.world;
    const logs = await client.getLogs({ fromBlock: 0n, address: tokens.USDT });
    const left = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }).filter(
      ({ args }) => args.from === store.hot,
    );
    expect(left.map(({ args }) => `${args.value} to ${args.to}`).sort()).toEqual(
      paid.map((address) => `${AMOUNT} to ${address}`).sort(),
    );
    await store.expectSettled();
  }

  /** Versions that were signed of each attempt. Reading throws where an entry does not follow from the one before it. */
  function signedVersions(): Map<string, number> {
    const versions = new Map<string, number>();
    readJournal(store.files.journal, (entry) => {
      if (entry.type === 'sign') versions.set(entry.attempt, (versions.get(entry.attempt) ?? 0) + 1);
    });
    return versions;
  }
  const statusOf = async (id: string) =>
    (
      await asOwner<{ status: string }>(
        store.service,
        'select status from transfer_attempt where group_id = $1',
        [decodeId('payoutBatch', id)],
      )
    ).map(({ status }) => status);
  const versionsOf = (id: string) =>
    asOwner<{ attempt: string; versions: number }>(
      store.service,
      'select attempt_id as attempt, versions from transfer_attempt where group_id = $1',
      [decodeId('payoutBatch', id)],
    );

  test.each(POINTS)('fault 4: the worker dies at %s', LONG, async (point) => {
    const give = async () => void (await submit());
    const killing = { give, mine: () => store.world.mine(1) };
    expect(await dieAt([{ worker, point }], killing)).toEqual([KILLED]);
  });

  test('fault 4: afterwards each item was transferred once on the chain', LONG, async () => {
    await worker.start();
    await expectAllPaidOnce();
  });

  test.each(SIGNER_POINTS)('fault 10: the signer dies at %s', LONG, async (point) => {
    await store.restartSigner(undefined, { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point });
    const id = await submit();
    let isDead = false;
    void store.signerEnded().then(() => {
      isDead = true;
    });
    await mineUntil(() => isDead);
    expect((await store.signerEnded()).signal).toBe('SIGKILL');
    await store.world.mine(store.world.finalBlocks + 1);
    expect(await store.batch(id)).toMatchObject({ status: 'processing' });
    await store.restartSigner();
    await store.until(() => store.batch(id), { status: 'completed', success_count: 2 });
    const [only, ...others] = await versionsOf(id);
    expect({ ...only, others }).toMatchObject({ versions: 1, others: [] });
    expect(signedVersions().get(only?.attempt ?? '')).toBe(1);
  });

  test.each(VERSION_POINTS)(
    'fault 4: the worker dies at %s, while it replaces a stuck transaction',
    LONG,
    async (point) => {
      const { client } = store.world;
      const id = await submit();
      await expect.poll(() => statusOf(id), WITHIN).toEqual(['sent']);
      await worker.kill();
      await worker.start({ crashPoint: point });
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('20') });
      await store.world.mine(1);
      await asOwner(
        store.service,
        "update transfer_attempt set sent_at = sent_at - $1 where status = 'sent'",
        [STUCK_SECONDS],
      );
      expect(await worker.ended).toEqual({ signal: 'SIGKILL', code: null });
      await worker.start();
      await expect
        .poll(async () => (await versionsOf(id)).map(({ versions }) => versions), WITHIN)
        .toEqual([2]);
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') });
      await store.until(() => store.batch(id), { status: 'completed', success_count: 2 });
    },
  );

  test(
    'fault 4, fault 10: after all of it each item was transferred once, and the journal is whole',
    LONG,
    async () => {
      await expectAllPaidOnce();
      const signed = signedVersions();
      for (const id of batches)
        for (const { attempt, versions } of await versionsOf(id)) expect(signed.get(attempt)).toBe(versions);
      expect(worker.surprises).toEqual([]);
    },
  );
});

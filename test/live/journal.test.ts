import { copyFileSync } from 'node:fs';
import { signApproval } from '@florin/sdk';
import { approverPublicKey } from '@florin/signer';
import { SignerClient } from '@florin/signer/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historyCommands } from '../../packages/server/src/operator/history.ts';
import {
  approverCommands,
  installationApproverCommands,
} from '../../packages/server/src/operator/merchants.ts';
import { hasHistoryChanged } from '../../packages/server/src/transfers/history/index.ts';
import { ADA } from '../../packages/signer/src/test-policy.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { LiveStore, WITHIN } from './live-store.ts';

const LONG = { timeout: 180_000 };

describe.skipIf(!hasAnvil())('what the signer and the database know of each other', () => {
  let store: Awaited<ReturnType<typeof LiveStore.startBesideProcess>>;
  const tokens = new Map<string, string>();
  const by = (as: string) => ({ as, token: tokens.get(as) ?? '' });
  beforeAll(async () => {
    store = await LiveStore.startBesideProcess(() => {});
    const people = approverCommands(store.service.app);
    await people.addKey('Ada', approverPublicKey(ADA), store.id);
    const deciders = installationApproverCommands(store.service.app);
    for (const name of ['Grace', 'Bob']) tokens.set(name, (await deciders.add(name)).token);
    tokens.set('Eve', (await people.add('Eve', store.id)).token);
  }, 180_000);
  afterAll(() => store?.stop());

  const approved = async (place: number) => {
    const id = await store.submitted([{ address: freshAddress(place), amount: '3.00' }]);
    const { payouts } = store.merchant.sdk;
    await payouts.approve(
      id,
      signApproval(await payouts.statement(id), { approver: 'Ada', privateKey: ADA }),
    );
    return id;
  };
  const paid = async (id: string) => await store.until(() => store.batch(id), { status: 'completed' });
  /** The codes of refusals since then. */
  const refusedSince = (length: number) =>
    store
      .signerLog()
      .slice(length)
      .map((line): { event: string; code?: string } => JSON.parse(line))
      .flatMap(({ event, code }) => (event === 'refused' && code !== undefined ? [code] : []));

  test(
    'a signer with an earlier journal signs nothing, until it has the newest again or two people say so',
    LONG,
    async () => {
      const { journal } = store.files;
      await store.paid(100);
      await paid(await approved(1100));
      copyFileSync(journal, `${journal}.old`);
      await paid(await approved(1101));
      await store.restartSigner(() => {
        copyFileSync(journal, `${journal}.new`);
        copyFileSync(`${journal}.old`, journal);
      });
      const commands = historyCommands(store.service.app);
      const length = store.signerLog().length;
      const waiting = await approved(1102);
      const client = new SignerClient({ socket: store.files.socket });
      const entries = async () => (await client.status()).journal.entries;
      await expect.poll(() => store.batch(waiting), WITHIN).toMatchObject({ status: 'processing' });
      const before = await entries();
      await expect.poll(() => refusedSince(length).length, WITHIN).toBeGreaterThan(1);
      expect(new Set(refusedSince(length))).toEqual(new Set(['journal']));
      expect(await entries()).toBe(before);
      expect(await store.world.balance('USDT', freshAddress(1102))).toBe(0n);

      // The newest one is put back.
      await store.restartSigner(() => copyFileSync(`${journal}.new`, journal));
      await paid(waiting);
      const vote = (as: string) => commands.adoptJournal(by(as));
      expect(await vote('Grace')).toEqual({ adopted: false });

      // It is lost for good: two people take what is left.
      await store.restartSigner(() => copyFileSync(`${journal}.old`, journal));
      const other = await approved(1103);
      await expect.poll(() => store.batch(other), WITHIN).toMatchObject({ status: 'processing' });
      expect(await vote('Grace')).toEqual({ adopted: false, agreed: 1, required: 2 });
      await expect(vote('Grace')).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(vote('Eve')).rejects.toMatchObject({ code: 'forbidden' });
      expect(await vote('Bob')).toEqual({ adopted: true, agreed: 2, required: 2 });
      await paid(other);
      expect(await store.world.balance('USDT', freshAddress(1103))).toBe(3_000_000n);
      client.close();
    },
  );

  test('a database whose generation is over gets no signature', LONG, async () => {
    const client = new SignerClient({ socket: store.files.socket });
    await store.paid(50);
    await paid(await approved(1109));
    const { held } = await client.status();
    expect(held?.generation).toBe('1');
    expect(await client.claim({ history: 'of another database', over: '1' })).toEqual({ claimed: true });
    const length = store.signerLog().length;
    const id = await approved(1110);
    const hasChanged = async () => {
      await store.world.mine(1);
      return await hasHistoryChanged(store.service.app.db);
    };
    await expect.poll(hasChanged, WITHIN).toBe(true);
    await store.world.mine(store.world.finalBlocks);
    expect(await store.batch(id)).toMatchObject({ status: 'processing' });
    expect(await store.world.balance('USDT', freshAddress(1110))).toBe(0n);
    expect(new Set(refusedSince(length))).toEqual(new Set(['history']));
    // Adopted, this database is of a newer generation than the other. Two people know why its wallet holds more than its books.
    const commands = historyCommands(store.service.app);
    await commands.adoptHistory({ unchecked: by('Grace') });
    expect(await commands.adoptHistory({ unchecked: by('Bob') })).toMatchObject({ adopted: true });
    expect((await client.status()).held?.generation).toBe('3');
    await paid(id);
    client.close();
  });
});

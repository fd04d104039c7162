import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { signApproval } from '@florin/sdk';
import { approverPublicKey } from '@florin/signer';
import { SignerClient } from '@florin/signer/client';
import { type Address, erc20Abi, parseEventLogs } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { approverCommands } from '../../packages/server/src/operator/merchants.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { decideApproval } from '../../packages/server/src/payouts/approvals/index.ts';
import type { Tx } from '../../packages/server/src/platform/db/index.ts';
import { approverOf } from '../../packages/server/src/stores/approvers/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { statementOf } from '../../packages/signer/src/statement.ts';
import {
  answerOf,
  makePasskey,
  policyPasskey,
  type TestPasskey,
} from '../../packages/signer/src/test-passkey.ts';
import { ADA } from '../../packages/signer/src/test-policy.ts';
import { signIn } from '../console/people.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { refunds } from '../refunds/requests.ts';
import { PASSPHRASE } from '../signer/signer-process.ts';
import { LiveStore, WITHIN } from './live-store.ts';

const LONG = { timeout: 180_000 };
/** Where the thief wants the money. */
const THIEF = freshAddress(999);
const MALLORY = generateKeyPairSync('ed25519').privateKey;
const GRACE = makePasskey();
const MALLORYS_PASSKEY = makePasskey();

/** What a thief does who can write every row of the database, and knows a batch that was approved. */
interface Attack {
  name: string;
  /** UUIDs of the batch, and of another one that was approved as well and pays less. */
  edit: (batch: string, other: string) => Promise<void>;
  /** Whether the batch is approved before; by default. */
  isApproved?: false;
  /** The signer's word; the server's own checks find the others before they ask it. */
  refusal?: string;
}

describe.skipIf(!hasAnvil())('G3, fault 63: a thief who can write every row of the database', () => {
  let store: Awaited<ReturnType<typeof LiveStore.startBesideProcess>>;
  let signer: SignerClient;

  beforeAll(async () => {
    // The alarm has a test of its own.
    store = await LiveStore.startBesideProcess((policy) => {
      policy.freeze_after_refusals = 1_000;
      policy.approvers.push({ name: 'grace', passkeys: [policyPasskey(GRACE)] });
    });
    signer = new SignerClient({ socket: store.signer.socket });
    await approverCommands(store.service.app).addKey('Ada', approverPublicKey(ADA), store.id);
    await settingCommands(store.service.app).set('refunds.delay_seconds', '0');
  }, 180_000);
  afterAll(async () => {
    signer?.close();
    await store?.stop();
  });

  const pays = (place: number, amount = '10.00') => [
    { address: freshAddress(place), amount },
    { address: freshAddress(place + 1), amount: '1.00' },
  ];
  const write = async (query: string, values: unknown[]) =>
    void (await asOwner(store.service, query, values));
  const uuidOf = (id: string) => decodeId('payoutBatch', id) ?? '';
  /** What Ada has signed, by recipient. */
  const granted = new Map<string, bigint>();
  async function approve(id: string): Promise<void> {
    const subject = await store.merchant.sdk.payouts.statement(id);
    for (const { to, amount } of subject.items) granted.set(to, (granted.get(to) ?? 0n) + BigInt(amount));
    await store.merchant.sdk.payouts.approve(id, signApproval(subject, { approver: 'Ada', privateKey: ADA }));
  }

  /** Every transfer that ever left the hot wallet, by recipient. */
  async function paidOut(): Promise<Map<string, bigint>> {
    const logs = await store.world.client.getLogs({ fromBlock: 0n, address: store.world.tokens.USDT });
    const sums = new Map<string, bigint>();
    for (const { args } of parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }))
      if (args.from === store.hot) sums.set(args.to, (sums.get(args.to) ?? 0n) + args.value);
    return sums;
  }

  function expectOnlyGranted(paid: ReadonlyMap<string, bigint>): void {
    for (const [to, sum] of paid) expect(sum <= (granted.get(to) ?? 0n), `${sum} to ${to}`).toBe(true);
  }

  const attemptsOf = async (batch: string) =>
    (
      await asOwner<{ attempt_id: string }>(
        store.service,
        'select attempt_id from transfer_attempt where group_id = $1',
        [batch],
      )
    ).map((row) => row.attempt_id);
  /** How the signer has refused the attempts of a group. To be frozen, or to ask for the attempts before, is no refusal. */
  async function refusalsOf(batch: string): Promise<string[]> {
    const attempts = new Set(await attemptsOf(batch));
    const lines = store
      .signerLog()
      .map((line): { event: string; code?: string; attempt?: string } => JSON.parse(line));
    return lines
      .filter(({ event, attempt }) => event === 'refused' && attempts.has(attempt ?? ''))
      .flatMap(({ code }) => (code === undefined || isNoRefusal(code) ? [] : [code]));
  }
  /** The signer has refused it, or the server has failed what does not belong to it. */
  async function isStopped(batch: string): Promise<boolean> {
    await store.world.mine(1);
    const failed = await asOwner(
      store.service,
      "select 1 from transfer where group_id = $1 and status = 'failed'",
      [batch],
    );
    return failed.length > 0 || (await refusalsOf(batch)).length > 0;
  }

  const toThief = (batch: string) =>
    write('update transfer set address = $2 where group_id = $1 and place = 0', [batch, THIEF]);
  const itemsToThief = (batch: string) =>
    write('update payout_item set address = $2 where batch_id = $1 and index = 0', [batch, THIEF]);
  const forge = async (batch: string, id: string, name: string) => {
    const subject = await store.merchant.sdk.payouts.statement(id);
    const { signature, valid_until } = signApproval(subject, { approver: name, privateKey: MALLORY });
    await write(
      `insert into signed_approval (merchant_id, kind, owner_id, approver, statement_digest, valid_until, signature, created_at,
         approver_id, public_key)
       select $1, 'payout', $2, $3, sha256('x'), $4, $5, 0, approver_id, $6 from approver where name = 'Ada'
       on conflict (merchant_id, kind, owner_id, approver) do update set valid_until = $4, signature = $5`,
      [store.merchant.merchantId, batch, name, valid_until, signature, approverPublicKey(ADA)],
    );
  };
  /** As if Grace's passkey had answered: the answer is that of the thief's own. */
  const forgePasskey = async (batch: string, id: string) => {
    const until = Math.floor(Date.now() / 1000) + 3_600;
    const statement = statementOf(await store.merchant.sdk.payouts.statement(id), until);
    const { signature, passkey } = answerOf(MALLORYS_PASSKEY, statement);
    await write(
      `insert into signed_approval (merchant_id, kind, owner_id, approver, statement_digest, valid_until, signature, created_at,
         approver_id, public_key, credential_id, authenticator_data, client_data_json)
       select $1, 'payout', $2, 'grace', sha256('x'), $3, $4, 0, approver_id, $5, sha256('x'), $6, $7 from approver where name = 'Ada'`,
      [
        store.merchant.merchantId,
        batch,
        until,
        signature,
        GRACE.key.key,
        Buffer.from(passkey.authenticatorData.slice(2), 'hex'),
        Buffer.from(passkey.clientDataJSON.slice(2), 'hex'),
      ],
    );
  };
  const idOf = new Map<string, string>();

  const attacks: Attack[] = [
    { name: 'another recipient in the transfer', edit: toThief },
    {
      name: 'another recipient in item and transfer',
      edit: async (batch) => {
        await itemsToThief(batch);
        await toThief(batch);
      },
      refusal: 'approvals',
    },
    {
      name: 'a larger amount to a recipient of their own choice in item and transfer',
      edit: async (batch) => {
        await itemsToThief(batch);
        await toThief(batch);
        await write('update payout_item set amount = amount * 20 where batch_id = $1 and index = 0', [batch]);
        await write('update transfer set amount = amount * 20 where group_id = $1 and place = 0', [batch]);
      },
      refusal: 'approvals',
    },
    {
      name: 'a recipient, and an approval of it under an approver’s name by a key of their own',
      edit: async (batch) => {
        await itemsToThief(batch);
        await toThief(batch);
        await write('update approver set public_key = $1 where name = $2', [
          approverPublicKey(MALLORY),
          'Ada',
        ]);
        await forge(batch, idOf.get(batch) ?? '', 'ada');
        await write('update approver set public_key = $1 where name = $2', [approverPublicKey(ADA), 'Ada']);
      },
      refusal: 'approvals',
    },
    {
      name: 'a recipient, and the approval of another batch',
      edit: async (batch, other) => {
        await itemsToThief(batch);
        await toThief(batch);
        await write('delete from signed_approval where owner_id = $1', [batch]);
        await write('update signed_approval set owner_id = $1 where owner_id = $2', [batch, other]);
      },
      refusal: 'approvals',
    },
    {
      name: 'a longer validity of a signature',
      edit: (batch) =>
        write('update signed_approval set valid_until = valid_until + 86400 where owner_id = $1', [batch]),
      refusal: 'approvals',
    },
    {
      name: 'settings without limits, and a batch that nobody has approved moved on',
      isApproved: false,
      edit: async (batch) => {
        for (const name of ['payouts.approval_above', 'payouts.unapproved_per_day'])
          await settingCommands(store.service.app).set(name, name.endsWith('above') ? '1000000.00' : 'off');
        await write(
          `update payout_batch set status = 'pending', required_signatures = 0, required_approvals = 0 where batch_id = $1`,
          [batch],
        );
        await forge(batch, idOf.get(batch) ?? '', 'ada');
        await forgePasskey(batch, idOf.get(batch) ?? '');
        await write(
          `update job set kind = 'payouts.process', due_at_ms = 0 where unique_key = $1 and kind = 'payouts.expire-approval'`,
          [batch],
        );
      },
      refusal: 'approvals',
    },
    {
      name: 'one item more in an approved batch',
      edit: async (batch) => {
        await write(
          `insert into transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, network, currency, address, amount,
             status, created_at, place)
           select merchant_id, gen_random_uuid(), owner_type, gen_random_uuid(), group_id, network, currency, $2, amount,
             'queued', created_at, 2 from transfer where group_id = $1 and place = 0`,
          [batch, THIEF],
        );
      },
    },
  ];

  test('an approved batch is paid', LONG, async () => {
    await store.paid(500);
    const id = await store.submitted(pays(700));
    await approve(id);
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await paidOut()).toEqual(
      new Map([
        [addressOf(freshAddress(700)), 10_000_000n],
        [addressOf(freshAddress(701)), 1_000_000n],
      ]),
    );
  });

  test.each(attacks)('$name: the thief gets nothing', LONG, async ({ edit, isApproved = true, refusal }) => {
    const other = await store.submitted(pays(720, '1.00'));
    await signer.freeze('a test holds what is approved');
    await approve(other);
    const id = await store.submitted(pays(710));
    const batch = uuidOf(id);
    idOf.set(batch, id);
    if (isApproved) {
      await approve(id);
      await expect.poll(() => attemptsOf(batch), WITHIN).toHaveLength(1);
    }
    await edit(batch, uuidOf(other));
    await signer.unfreeze(PASSPHRASE);
    await expect.poll(() => isStopped(batch), { timeout: 90_000, interval: 250 }).toBe(true);
    if (refusal !== undefined) expect(await refusalsOf(batch)).toContain(refusal);
    await store.world.mine(store.world.finalBlocks + 1);
    expect(await store.world.balance('USDT', addressOf(THIEF))).toBe(0n);
    expectOnlyGranted(await paidOut());
  });

  test('a refund’s address changed after its approval: the signer refuses it', LONG, async () => {
    const { paymentId } = await store.paid(300);
    const calls = refunds(store.service, store.merchant);
    await signer.freeze('a test holds what is approved');
    const { refund_id: id } = await calls.refund({
      refund_id: 'r-thief',
      payment_id: paymentId,
      amount: 150_000_000,
      currency: 'USDT',
      address: freshAddress(730),
    });
    const { sdk } = store.merchant;
    const subject = await sdk.refunds.statement(id);
    await sdk.refunds.approve(id, signApproval(subject, { approver: 'Ada', privateKey: ADA }));
    await expect.poll(() => attemptsOf(subject.id), WITHIN).toHaveLength(1);
    await write('update refund set address = $2 where refund_id = $1', [subject.id, THIEF]);
    await toThief(subject.id);
    await signer.unfreeze(PASSPHRASE);
    await expect
      .poll(() => refusalsOf(subject.id), { timeout: 90_000, interval: 250 })
      .toContain('approvals');
    expect(await store.world.balance('USDT', addressOf(THIEF))).toBe(0n);
  });

  test(
    'a passkey that is replaced in the policy: its batches wait, the signer is not asked, and the new one lets them go on',
    LONG,
    async () => {
      const { app } = store.service;
      const { merchantId } = store.merchant;
      const { userId, email } = await signIn(store.service, store.merchant, 'approver');
      const caller = { merchantId, mode: 'live', clockOffset: 0 } as const;
      const mayApprove = (tx: Tx) => users.mayApproveNow(tx, merchantId, userId);
      const approverId = await approverOf(app, caller, { userId, email, mayApprove });
      const signAs = async (id: string, { passkey, id: name }: { passkey: TestPasskey; id: string }) => {
        const credentialId = Buffer.from(name);
        const { key, rpId, origin } = passkey.key;
        const row = { user_id: userId, name, counter: 0, created_at_ms: 0, used_at_ms: null };
        await app.db
          .insertInto('console_passkey')
          .values({ credential_id: credentialId, public_key: Buffer.from(key), ...row })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const validUntil = Math.floor(Date.now() / 1000) + 86_400;
        const answer = answerOf(
          passkey,
          statementOf(await store.merchant.sdk.payouts.statement(id), validUntil),
        );
        const own = { credentialId, key, rpId, origin, ...answer.passkey };
        const signed = {
          name: email,
          publicKey: null,
          validUntil,
          signature: answer.signature,
          passkey: own,
        };
        await decideApproval(app, caller, { batchId: uuidOf(id), approverId, decision: 'approved', signed });
      };
      await signer.freeze('a test holds what is approved');
      const [held, behind] = [await store.submitted(pays(750)), await store.submitted(pays(760))];
      for (const id of [held, behind]) {
        await signAs(id, { passkey: GRACE, id: 'old phone' });
        for (const [to, amount] of [
          [0, 10_000_000n],
          [1, 1_000_000n],
        ] as const)
          granted.set(addressOf(freshAddress((id === held ? 750 : 760) + to)), amount);
      }
      const next = makePasskey();
      const policy: { approvers: { name: string; passkeys?: unknown[] }[] } = JSON.parse(
        readFileSync(store.files.policy, 'utf8'),
      );
      for (const one of policy.approvers) if (one.name === 'grace') one.passkeys = [policyPasskey(next)];
      await store.restartSigner(() => writeFileSync(store.files.policy, JSON.stringify(policy)));
      await signer.unfreeze(PASSPHRASE);
      const other = await store.submitted(pays(770));
      await approve(other);
      await store.until(() => store.batch(other), { status: 'completed' });
      // They have stepped aside. What the frozen signer held is tried again after a minute at most.
      const reasons = async () => {
        const query = 'select reason from transfer_hold where group_id = any($1) order by reason';
        const rows = await asOwner(store.service, query, [[held, behind].map(uuidOf)]);
        return rows.map(({ reason }) => reason);
      };
      await expect.poll(reasons, { timeout: 90_000, interval: 250 }).toEqual(['approvals', 'approvals']);
      for (const id of [held, behind]) expect(await refusalsOf(uuidOf(id))).toEqual([]);
      for (const id of [held, behind]) await signAs(id, { passkey: next, id: 'new phone' });
      for (const id of [held, behind]) await store.until(() => store.batch(id), { status: 'completed' });
      expectOnlyGranted(await paidOut());
    },
  );

  test('what was approved and left as it was is paid all the same', LONG, async () => {
    const id = await store.submitted(pays(740));
    await approve(id);
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await store.world.balance('USDT', freshAddress(740))).toBe(10_000_000n);
    expectOnlyGranted(await paidOut());
  });
});

const isNoRefusal = (code: string) => ['frozen', 'unknown_attempts'].includes(code);
const addressOf = (text: string): Address => `0x${text.slice(2)}`;

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:net';
import { type ApprovalInput, signApproval } from '@florin/sdk';
import { approverPublicKey } from '@florin/signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { publicKeyOf } from '../../packages/server/src/console/accounts/passkey-keys.ts';
import { makeAuthenticator } from '../../packages/server/src/console/accounts/test-authenticator.ts';
import {
  askForDecision,
  signedByPasskey,
  wayOf,
} from '../../packages/server/src/console/passkey-decisions.ts';
import { approvalCommands } from '../../packages/server/src/operator/approvals.ts';
import { approverCommands } from '../../packages/server/src/operator/merchants.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { refundCommands } from '../../packages/server/src/operator/refunds.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { decideApproval, payoutStatement } from '../../packages/server/src/payouts/approvals/index.ts';
import type { Tx } from '../../packages/server/src/platform/db/index.ts';
import { approverOf } from '../../packages/server/src/stores/approvers/index.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/index.ts';
import { countedApprovals } from '../../packages/server/src/transfers/approvals/index.ts';
import { ADA } from '../../packages/signer/src/test-policy.ts';
import { signIn } from '../console/people.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { caller as requests } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { LiveStore } from './live-store.ts';

const LONG = { timeout: 120_000 };
const GRACE = makeAuthenticator();
const NEW_PHONE = makeAuthenticator();
const PAGE = { rp_id: 'console.example.com', origin: 'https://console.example.com' };
const SETTLES = { status: 'completed' };
/** Nobody is waited for: the worker may have begun with it. */
const TAKEN = { status: expect.stringMatching(/^(pending|processing)$/) };

describe.skipIf(!hasAnvil())('people whom the signer wants, asked before anything is taken', () => {
  let store: LiveStore;
  beforeAll(async () => {
    const keys = await Promise.all([GRACE, NEW_PHONE].map(({ kept }) => publicKeyOf(kept.public_key)));
    store = await LiveStore.start(({ payouts, refunds, approvers }) => {
      approvers.push({ name: 'grace', passkeys: keys.map((key) => ({ key, ...PAGE })) });
      Object.assign(payouts, { approve_above: '20.00', unapproved_per_day: '30.00' });
      Object.assign(refunds, { approve_above: '5.00', unapproved_per_day: '5.00' });
    });
  }, 120_000);
  afterAll(() => store?.stop());

  const to = (place: number, amount: string) => [{ address: freshAddress(place), amount }];
  const wanted = async (table: 'payout_batch' | 'refund') => {
    const rows = await asOwner<{ people: string }>(
      store.service,
      `select required_approvals || ' ' || coalesce(required_signatures::text, '-') as people from ${table}
       where merchant_id = $1 order by created_at desc, ${table === 'refund' ? 'refund_id' : 'batch_id'} desc limit 1`,
      [store.merchant.merchantId],
    );
    return rows[0]?.people;
  };

  test(
    'the signer’s sum and day decide where the settings want nobody, and the larger number of people counts',
    LONG,
    async () => {
      await store.paid(200);
      const above = await store.submitted(to(900, '20.01'));
      expect(await store.batch(above)).toMatchObject({ status: 'pending_approval' });
      expect(await wanted('payout_batch')).toBe('1 1');

      const within = await store.submitted(to(901, '20.00'));
      expect(await store.batch(within)).toMatchObject(TAKEN);
      expect(await wanted('payout_batch')).toBe('0 0');
      // Not signed yet, and counted all the same.
      const rest = await store.submitted(to(902, '10.01'));
      expect(await store.batch(rest)).toMatchObject({ status: 'pending_approval' });
      await store.until(() => store.batch(within), SETTLES);
      // Now by what the signer has signed.
      const last = await store.submitted(to(903, '10.01'));
      expect(await store.batch(last)).toMatchObject({ status: 'pending_approval' });
      const fits = await store.submitted(to(904, '10.00'));
      expect(await store.batch(fits)).toMatchObject(TAKEN);

      await settingCommands(store.service.app).set('payouts.approval_above', '1.00');
      await settingCommands(store.service.app).set('payouts.approvals', '2');
      await store.submitted(to(905, '21.00'));
      expect(await wanted('payout_batch')).toBe('2 1');
      await settingCommands(store.service.app).set('payouts.approval_above', '10000.00');
      expect((await payoutCommands(store.service.app).list({ status: 'pending_approval' })).length).toBe(4);
    },
  );

  test('a refund above the signer’s sum waits in pending, and is listed for approvers', LONG, async () => {
    const { paymentId } = await store.paid(40);
    const calls = refunds(store.service, store.merchant);
    const refund = (amount: number, address: string) =>
      calls.refund({ payment_id: paymentId, amount, currency: 'USDT', address });
    await settingCommands(store.service.app).set('refunds.delay_seconds', '0');
    const { refund_id: small } = await refund(5_000_000, freshAddress(910));
    expect(await wanted('refund')).toBe('0 0');
    await store.until(() => calls.read(small), { status: 'succeeded' });
    const { refund_id: large } = await refund(1_000_000, freshAddress(911));
    expect(await wanted('refund')).toBe('1 1');
    const waiting = await refundCommands(store.service.app).awaitingApproval();
    expect(waiting).toMatchObject([{ refund_id: large, required_approvals: 1 }]);
  });

  test(
    'a passkey alone approves what the signer wants people for, and a session does not',
    LONG,
    async () => {
      const { app } = store.service;
      const { merchantId } = store.merchant;
      const caller = { merchantId, mode: 'live', clockOffset: 0 } as const;
      const grace = await signIn(store.service, store.merchant, 'approver');
      const policy = () => countedApprovals.readPolicyForPage(app.chains, caller);
      const deciding = {
        caller,
        user: { user_id: grace.userId, email: grace.email },
        publicUrl: PAGE.origin,
      };
      const id = await store.submitted(to(920, '20.05'));
      const batchId = decodeId('payoutBatch', id) ?? '';
      const approverId = await approverOf(app, caller, {
        userId: grace.userId,
        email: grace.email,
        mayApprove: (tx) => users.mayApproveNow(tx, merchantId, grace.userId),
      });
      expect(await wayOf(app, deciding, await policy())).toMatchObject({
        kind: 'session',
        hint: expect.stringContaining(grace.email),
      });
      const bySession = decideApproval(app, caller, { batchId, approverId, decision: 'approved' });
      await expect(bySession).rejects.toMatchObject({
        details: { param: 'signature' },
        message: expect.stringContaining('passkey'),
      });
      const row = { user_id: grace.userId, name: 'Key', counter: 0, created_at_ms: 0, used_at_ms: null };
      await app.db
        .insertInto('console_passkey')
        .values({ ...GRACE.kept, ...row })
        .execute();
      const elsewhere = { ...deciding, publicUrl: 'https://other.example.com' };
      expect(await wayOf(app, elsewhere, await policy())).toMatchObject({
        kind: 'session',
        hint: expect.stringContaining('does not name'),
      });
      const asked = await askForDecision(app, deciding, {
        subject: await payoutStatement(app.db, merchantId, batchId),
        decision: 'approved',
      });
      const credential = GRACE.get({
        challenge: asked.options.challenge,
        origin: PAGE.origin,
        rpId: asked.options.rpId,
      });
      const answered = { validUntil: asked.valid_until, credential };
      const signed = await signedByPasskey(app, deciding, answered);
      expect(
        await decideApproval(app, caller, { batchId, approverId, decision: 'approved', signed }),
      ).toMatchObject(TAKEN);
      await store.until(() => store.batch(id), SETTLES);
      expect(await store.world.balance('USDT', freshAddress(920))).toBe(20_050_000n);
      const key = await publicKeyOf(GRACE.kept.public_key);
      const approvers = [
        { name: 'grace', kind: 'passkey', key, rpId: PAGE.rp_id, origin: PAGE.origin } as const,
      ];
      expect((await approvalCommands(app, undefined).verify({ id, approvers })).approvals).toMatchObject([
        { name: grace.email, by: 'passkey', strength: 'signed' },
      ]);
      await app.db.deleteFrom('signed_approval').execute();
    },
  );

  test(
    'what a removed passkey has signed counts no more, and its owner signs again by another one, once',
    LONG,
    async () => {
      const { app } = store.service;
      const { merchantId } = store.merchant;
      const caller = { merchantId, mode: 'live', clockOffset: 0 } as const;
      const settings = settingCommands(app);
      const [ada, bob, cid] = [
        await signIn(store.service, store.merchant, 'approver'),
        await signIn(store.service, store.merchant, 'owner'),
        await signIn(store.service, store.merchant, 'approver'),
      ];
      await settings.set('payouts.approval_above', '1.00');
      const id = await store.submitted(to(925, '20.06'));
      await settings.set('payouts.approval_above', '10000.00');
      const batchId = decodeId('payoutBatch', id) ?? '';
      const decides = async ({ userId, email }: typeof ada, passkey?: typeof GRACE) => {
        const mayApprove = (tx: Tx) => users.mayApproveNow(tx, merchantId, userId);
        const approverId = await approverOf(app, caller, { userId, email, mayApprove });
        const deciding = { caller, user: { user_id: userId, email }, publicUrl: PAGE.origin };
        const decision = 'approved';
        if (passkey === undefined)
          return await decideApproval(app, caller, { batchId, approverId, decision });
        const subject = await payoutStatement(app.db, merchantId, batchId);
        const asked = await askForDecision(app, deciding, { subject, decision });
        const { challenge, rpId } = asked.options;
        const credential = passkey.get({ challenge, origin: PAGE.origin, rpId });
        const signed = await signedByPasskey(app, deciding, { validUntil: asked.valid_until, credential });
        return await decideApproval(app, caller, { batchId, approverId, decision, signed });
      };
      const gets = async ({ kept }: typeof GRACE) => {
        const row = { name: 'Key', counter: 0, created_at_ms: 0, used_at_ms: null };
        const passkey = { ...kept, ...row, user_id: ada.userId };
        await app.db.deleteFrom('console_passkey').where('credential_id', '=', kept.credential_id).execute();
        await app.db.insertInto('console_passkey').values(passkey).execute();
      };
      await gets(GRACE);
      expect(await decides(ada, GRACE)).toMatchObject({ status: 'pending_approval' });
      await expect(decides(ada, GRACE)).rejects.toThrow('decided on this before');
      await app.db.deleteFrom('console_passkey').where('user_id', '=', ada.userId).execute();
      const group = { ownerType: 'payout_item', groupId: batchId };
      expect(await app.findAuthority(app.db, merchantId, group)).toMatchObject({ approvals: [] });
      // Her vote is there, and she can sign again: what others do is not refused meanwhile.
      expect(await decides(bob)).toMatchObject({ status: 'pending_approval' });
      await expect(decides(bob)).rejects.toThrow('decided on this before');
      await expect(decides(cid)).rejects.toMatchObject({
        details: { param: 'signature' },
        message: expect.stringContaining(`${ada.email} has to sign again`),
      });
      const shown = await bob.call(
        `/console/api/merchants/${encodeId('merchant', merchantId)}/payout-batches/${id}/decision`,
      );
      expect(shown.body).toMatchObject({ signs_again: [ada.email] });
      await gets(NEW_PHONE);
      // Votes and signatures are complete now.
      expect(await decides(ada, NEW_PHONE)).toMatchObject(TAKEN);
      await store.until(() => store.batch(id), SETTLES);
      expect(await store.world.balance('USDT', freshAddress(925))).toBe(20_060_000n);
      await app.db.deleteFrom('signed_approval').execute();
    },
  );

  const signatures = () =>
    asOwner(store.service, 'select approver from signed_approval where merchant_id = $1', [
      store.merchant.merchantId,
    ]);

  test(
    'approvals are signatures where the signer wants them: a token, a wrong key and another batch are refused',
    LONG,
    async () => {
      const { sdk } = store.merchant;
      const people = approverCommands(store.service.app);
      const stranger = generateKeyPairSync('ed25519').privateKey;
      const { token: bea } = await people.add('Bea', store.id);
      await people.addKey('Cid', approverPublicKey(stranger), store.id);
      await people.addKey('Ada', approverPublicKey(ADA), store.id);
      await expect(people.addKey('Dan', approverPublicKey(ADA), store.id)).rejects.toMatchObject({
        details: { param: 'key' },
      });
      const { approve } = payoutCommands(store.service.app);
      const id = await store.submitted(to(930, '20.02'));
      const other = await store.submitted(to(931, '20.03'));
      const byToken = approve({ batch: id, as: 'Bea', token: bea });
      await expect(byToken).rejects.toMatchObject({ details: { param: 'signature' } });

      const subject = await sdk.payouts.statement(id);
      const ada = { approver: 'Ada', privateKey: ADA };
      const good = signApproval(subject, ada);
      const less = { ...subject, items: subject.items.map((item) => ({ ...item, amount: '1' })) };
      const wrong: [approval: ApprovalInput, param: string][] = [
        [signApproval(await sdk.payouts.statement(other), ada), 'signature'],
        [signApproval(less, ada), 'signature'],
        [signApproval(subject, { ...ada, privateKey: stranger }), 'signature'],
        [{ ...good, valid_until: good.valid_until + 1 }, 'signature'],
        [signApproval(subject, { ...ada, validForSeconds: 3_500 }), 'valid_until'],
        [signApproval(subject, { ...ada, validForSeconds: 31 * 86_400 }), 'valid_until'],
        [signApproval(subject, { approver: 'Cid', privateKey: stranger }), 'approver'],
        [{ ...good, approver: 'Bea' }, 'approver'],
        [{ ...good, approver: 'Eve' }, 'approver'],
      ];
      for (const [{ approver, valid_until: validUntil, signature }, param] of wrong) {
        const verdict = approve({ batch: id, as: approver, signed: { validUntil, signature } });
        await expect(verdict).rejects.toMatchObject({ code: 'invalid_request', details: { param } });
        const over = sdk.payouts.approve(id, { approver, valid_until: validUntil, signature });
        await expect(over).rejects.toMatchObject({ status: 400 });
      }
      expect(await signatures()).toEqual([]);
      expect(await sdk.payouts.approve(id, good)).toMatchObject(TAKEN);
      // Under the name that the signer's policy has for her key.
      expect(await signatures()).toEqual([{ approver: 'ada' }]);
      await store.until(() => store.batch(id), SETTLES);
      expect(await store.world.balance('USDT', freshAddress(930))).toBe(20_020_000n);
    },
  );

  test(
    'of two approvals one may be a token, and the last may not leave the signature out',
    LONG,
    async () => {
      const people = approverCommands(store.service.app);
      const settings = settingCommands(store.service.app);
      await settings.set('payouts.approval_above', '1.00');
      const { token: eli } = await people.add('Eli', store.id);
      const { token: flo } = await people.add('Flo', store.id);
      const id = await store.submitted(to(940, '20.04'));
      await settings.set('payouts.approval_above', '10000.00');
      const { approve } = payoutCommands(store.service.app);
      expect(await approve({ batch: id, as: 'Eli', token: eli })).toMatchObject({
        status: 'pending_approval',
      });
      const second = approve({ batch: id, as: 'Flo', token: flo });
      await expect(second).rejects.toMatchObject({ details: { param: 'signature' } });
      const { sdk } = store.merchant;
      const ada = { approver: 'Ada', privateKey: ADA };
      const subject = await sdk.payouts.statement(id);
      expect(await sdk.payouts.approve(id, signApproval(subject, ada))).toMatchObject(TAKEN);
      // A newer one is kept as well, as the signer may still wait for it.
      const again = signApproval(subject, { ...ada, validForSeconds: 7_200 });
      expect((await sdk.payouts.approve(id, again)).status).toMatch(/pending|processing/);
      await store.until(() => store.batch(id), SETTLES);
    },
  );

  test('a refund is approved by a signature over its amount and address', LONG, async () => {
    const { sdk } = store.merchant;
    const { paymentId } = await store.paid(20);
    const calls = refunds(store.service, store.merchant);
    const { refund_id: id } = await calls.refund({
      refund_id: 'r-signed',
      payment_id: paymentId,
      amount: 6_000_000,
      currency: 'USDT',
      address: freshAddress(950),
    });
    const subject = await sdk.refunds.statement(id);
    const item = { place: 0, to: freshAddress(950), amount: '6000000' };
    expect(subject).toMatchObject({ kind: 'refund', items: [item] });
    const ada = { approver: 'Ada', privateKey: ADA };
    const less = { ...subject, items: subject.items.map((one) => ({ ...one, amount: '5000000' })) };
    const wrong = sdk.refunds.approve(id, signApproval(less, ada));
    await expect(wrong).rejects.toMatchObject({ param: 'signature' });
    await sdk.refunds.approve(id, signApproval(subject, ada));
    await store.until(() => calls.read(id), { status: 'succeeded' });
    expect(await store.world.balance('USDT', freshAddress(950))).toBe(6_000_000n);
  });

  test(
    'without the signer’s answer nothing is taken: 503, and the batch and the payment are as before',
    LONG,
    async () => {
      const { paymentId } = await store.paid(30);
      const id = await store.drafted(to(920, '1.00'));
      await store.signer.stop();
      // Nobody is led to the weaker way meanwhile.
      const approver = await signIn(store.service, store.merchant, 'approver');
      const { userId } = approver;
      const row = { name: 'Key', counter: 0, created_at_ms: 0, used_at_ms: null, user_id: userId };
      const passkey = { ...makeAuthenticator().kept, ...row };
      await store.service.app.db.insertInto('console_passkey').values(passkey).execute();
      const merchantPath = `/console/api/merchants/${encodeId('merchant', store.merchant.merchantId)}`;
      const decision = `${merchantPath}/payout-batches/${id}/decision`;
      const away = { way: 'none', hint: expect.stringContaining('does not answer'), signs_again: [] };
      expect((await approver.call(decision)).body).toMatchObject(away);
      // One that hangs is asked once, and not waited for long.
      let asked = 0;
      const hanging = createServer(() => {
        asked += 1;
      }).listen(store.signer.socket);
      const beganAt = performance.now();
      expect((await approver.call(decision)).body).toMatchObject(away);
      // A call of the signer alone may take much longer.
      expect(performance.now() - beganAt).toBeLessThan(4_900);
      expect(asked).toBe(1);
      hanging.close();
      const balances = async () => (await store.merchant.sdk.balances.retrieve()).data;
      const before = await balances();
      expect(await requests(store.service, store.merchant).submit(id)).toMatchObject({
        status: 503,
        json: { errorCode: 'service_unavailable', message: expect.stringContaining('signer') },
      });
      expect(await store.batch(id)).toMatchObject({ status: 'draft' });
      const calls = refunds(store.service, store.merchant);
      const addressed = {
        refund_id: 'r-away',
        payment_id: paymentId,
        amount: 1_000_000,
        currency: 'USDT',
        address: freshAddress(921),
      };
      expect(await calls.create(addressed)).toMatchObject({ status: 503 });
      expect(await balances()).toEqual(before);
    },
  );
});

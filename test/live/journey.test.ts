import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CheckoutView } from '@florin/pages';
import { signApproval } from '@florin/sdk';
import { approverPublicKey } from '@florin/signer';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { approverCommands } from '../../packages/server/src/operator/merchants.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { ADA } from '../../packages/signer/src/test-policy.ts';
import { accounts } from '../../packages/signer/src/test-requests.ts';
import { startSigner } from '../chains/evm/real-signer.ts';
import { World } from '../chains/evm/world.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { bodyOf, caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const HUNDRED = 100 * TOKEN;
const WITHIN = { timeout: 90_000, interval: 250 };
const addressOf = (text: string): Address => `0x${text.slice(2)}`;

describe.skipIf(!hasAnvil())('real money on a local Ethereum', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-'));
  let world: World;
  let signer: Awaited<ReturnType<typeof startSigner>>;
  let service: TestService;
  let merchant: TestMerchant;

  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    signer = await startSigner(world, folder, ({ payouts }) => {
      payouts.approve_above = '20.00';
    });
    const { hash: genesisHash } = await world.client.getBlock({ blockNumber: 0n });
    const endpoints = [{ url: world.node.url, isOwn: true }];
    const network = world.network({ genesisHash, endpoints });
    service = await startService({
      worker: true,
      live: { network, signer: { socket: signer.socket } },
    });
    merchant = await service.createMerchant({ mode: 'live' });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await signer?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const own = () => encodeId('merchant', merchant.merchantId);
  async function expectBooksAgree(): Promise<void> {
    const { differences, unseen } = await verifyLedger(service.app, () => {});
    expect(differences).toEqual([]);
    expect(unseen.filter((line) => line.includes('erc20'))).toEqual([]);
  }

  test('K1: a payment to an address of the merchant’s account is credited early, and the books agree with the node', async () => {
    const api = checkout(service, merchant);
    const session = await api.open({ amount: HUNDRED });
    const row = await getSession(service.app.db, merchant, session.id);
    const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
    const { options } = await chooseOption(service.app, who, row, { currency: 'USDT', network: 'erc20' });
    const address = options[0]?.address ?? '';
    expect(address).toBe(accounts.deposit(1, 0).address);
    await world.mint('USDT', addressOf(address), BigInt(HUNDRED));
    const payment = () => api.payment(session.payment_id);
    await expect
      .poll(payment, WITHIN)
      .toMatchObject({ transactions: [{ status: 'seen', required_confirmations: 12 }] });
    await world.mine(11);
    await expect.poll(payment, WITHIN).toMatchObject({ status: 'completed', amount_received: HUNDRED });
    await expectBooksAgree();
    await world.mine(world.finalBlocks + 1);
    await expectBooksAgree();
  });

  test('the page offers what there is a node for, and its wallet link names the chain and the token of the networks file', async () => {
    const api = checkout(service, merchant);
    const { url } = await api.open({ amount: HUNDRED });
    const headers = { accept: 'application/json' };
    const body = new URLSearchParams({ option: 'USDT:erc20' });
    const answer = await fetch(url, { method: 'POST', headers, body });
    const view = (await answer.json()) as CheckoutView;
    expect(view).toMatchObject({ isTest: true, isSimulated: false, options: [{ value: 'USDT:erc20' }] });
    expect(view.due?.rich?.uri).toBe(
      `ethereum:${world.tokens.USDT}@31337/transfer?address=${view.due?.address}&uint256=${HUNDRED}`,
    );
    const elsewhere = { payment_options: [{ currency: 'USDT', network: 'trc20' }] };
    const refused = await api.post('/checkout/sessions/create', {
      amount: 1,
      currency: 'USDT',
      ...elsewhere,
    });
    expect(refused).toMatchObject({ status: 400, json: { error: { param: 'payment_options[0]' } } });
  });

  test('a price in dollars without a source of rates is refused with the setting that is missing', async () => {
    const refused = await checkout(service, merchant).post('/checkout/sessions/create', {
      amount: 499,
      currency: 'USD',
    });
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { param: 'currency', message: expect.stringContaining('rates.sources') } },
    });
  });

  test('a payout is refused until the operator turns the network on, then signed, sent and booked once it is final', {
    timeout: 120_000,
  }, async () => {
    const calls = caller(service, merchant);
    const created = await calls.create({
      ...bodyOf(['10', '5']),
      items: ['10.00', '5.00'].map((amount, i) => ({
        real_name: 'Ada Lovelace',
        network: 'erc20',
        address: freshAddress(500 + i),
        amount,
      })),
    });
    const id = String(created.json.batch_id);
    const refused = await calls.submit(id);
    expect(refused).toMatchObject({ status: 400, json: { errorCode: 'quota_blocked' } });
    expect(refused.text).toContain('florin networks enable');
    await settingCommands(service.app).set('refunds.delay_seconds', '0');
    const { data: payments } = await merchant.sdk.payments.list().page();
    const paid = payments.find(({ status }) => status === 'completed')?.id ?? '';
    const refunding = refunds(service, merchant);
    const { refund_id: refund } = await refunding.refund({
      payment_id: paid,
      amount: TOKEN,
      currency: 'USDT',
      address: freshAddress(502),
    });
    await expect
      .poll(() => refunding.read(refund), WITHIN)
      .toMatchObject({ status: 'pending', waiting_for: 'network_not_enabled' });
    await networkCommands(service.app).enable(own(), 'erc20');
    expect(await calls.submit(id)).toMatchObject({ status: 200 });
    const batch = async () => {
      await world.mine(1);
      return await merchant.sdk.payouts.retrieve(id);
    };
    await expect.poll(batch, WITHIN).toMatchObject({ status: 'completed' });
    expect(await world.balance('USDT', freshAddress(500))).toBe(10_000_000n);
    expect(await world.balance('USDT', freshAddress(501))).toBe(5_000_000n);
    const refunded = async () => {
      await world.mine(1);
      return await refunding.read(refund);
    };
    await expect.poll(refunded, { ...WITHIN, timeout: 60_000 }).toMatchObject({
      status: 'succeeded',
      waiting_for: null,
    });
    await expectBooksAgree();
  });

  test('a batch above the signer’s threshold waits until an approver has signed it, from the merchant’s own server', {
    timeout: 90_000,
  }, async () => {
    const calls = caller(service, merchant);
    const item = (address: string, amount: string) => ({
      real_name: 'Ada',
      network: 'erc20',
      address,
      amount,
    });
    const submitted = async (items: object[]) => {
      const created = await calls.create({ ...bodyOf(['1']), items });
      const id = String(created.json.batch_id);
      expect(await calls.submit(id)).toMatchObject({ status: 200 });
      return id;
    };
    const statusOf = async (id: string) => {
      await world.mine(1);
      return await merchant.sdk.payouts.retrieve(id);
    };
    await approverCommands(service.app).addKey('Ada', approverPublicKey(ADA), own());
    const good = await submitted([item(freshAddress(510), '51.00')]);
    expect(await statusOf(good)).toMatchObject({ status: 'pending_approval' });
    const approval = signApproval(await merchant.sdk.payouts.statement(good), {
      approver: 'Ada',
      privateKey: ADA,
    });
    expect(await merchant.sdk.payouts.approve(good, approval)).toMatchObject({ status: 'pending' });
    await expect.poll(() => statusOf(good), WITHIN).toMatchObject({ status: 'completed' });
    expect(await world.balance('USDT', freshAddress(510))).toBe(51_000_000n);
    await expectBooksAgree();
  });
});

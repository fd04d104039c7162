import { type Address, type Hex, parseEther, parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccountFaults } from '../../packages/server/src/chains/index.ts';
import { SigningBlocked } from '../../packages/server/src/chains/port/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { by } from '../../scripts/local-chain.ts';
import { PASSPHRASE } from '../chains/evm/real-signer.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { florin } from '../florin-command.ts';
import { advanceLive } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { ACCOUNT, COLLECTOR, LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';
import { hotOf, lookAtRotation, passphraseFile, rotate, rotationOf, runRotate } from './rotating.ts';

const LONG = { timeout: 300_000 };
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
/** Its key is in no signer. */
const COLD = privateKeyToAccount(`0x${'c0'.repeat(32)}`);

interface ShownCall {
  chain_id: number;
  from: Address;
  to: Address;
  data: Hex;
  value: string;
}

describe.skipIf(!hasAnvil())('a rotation whose command has died, of a merchant with a cold owner', () => {
  let store: LiveStore;
  let recipients = 0;
  beforeAll(async () => {
    store = await LiveStore.start(
      ({ payouts, refunds, networks: { erc20 } }) => {
        for (const rules of [payouts, refunds]) rules.approve_above = '1000.00';
        erc20.cold_owners = { [ACCOUNT]: COLD.address };
      },
      { collector: true },
    );
    await store.world.client.setBalance({ address: COLD.address, value: parseEther('1') });
    await store.paid(100);
  }, 120_000);
  afterAll(() => store?.stop());

  async function ordered() {
    recipients += 1;
    const address = freshAddress(900 + recipients);
    return { address, id: await store.submitted([{ address, amount: '2.00' }]) };
  }
  async function dieAt(point: string): Promise<void> {
    const env = { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point };
    const words = ['--passphrase-file', passphraseFile(), '--yes', '--json'];
    expect((await runRotate(store, words, { env })).code).toBe(null);
  }
  const sent: ShownCall[] = [];
  /** As a person does: sends what the command shows, by the owner's own wallet. */
  async function sendShown(stderr: string): Promise<void> {
    const shown = stderr.split('\n').filter((line) => line.startsWith('{"owner_call"') && line.endsWith('}'));
    for (const text of shown.slice(sent.length)) {
      const call: ShownCall = JSON.parse(text).owner_call;
      sent.push(call);
      // What others pay for their transactions stays as it is: the price of ours follows it.
      const fees = { maxFeePerGas: parseGwei('2'), maxPriorityFeePerGas: 1_000n };
      await store.world.client.sendTransaction({
        ...by(COLD, 200_000n),
        ...fees,
        to: call.to,
        data: call.data,
      });
    }
  }

  const api = () => billing(store.service, store.merchant);
  async function subscribed(customer: string): Promise<{ id: string; payer: PayerWallet }> {
    const ordered = await api().make({ customer, currency: 'USDT', items: [item(PRICE, 'month', 'USDT')] });
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(ordered);
    return { id: ordered.id, payer };
  }
  const active = async ({ id }: { id: string }) => {
    await store.until(() => api().read(id), { status: 'active' });
  };
  const cancel = () => runRotate(store, ['--cancel', '--json']);

  /** As if the policy had named another owner since. */
  const setOwner = (owner: string | null) =>
    asOwner(store.service, 'update chain_account set cold_owner = $2 where merchant_id = $1', [
      store.merchant.merchantId,
      owner,
    ]);
  const enable = () => networkCommands(store.service.app).enable(store.id, 'erc20');
  const faults = async () => {
    const { live } = store.service.app;
    if (live === undefined) throw new Error('the store is live');
    return await findAccountFaults(live.accounts.list(), live.ethereum);
  };

  test("before the first mandate the policy's owner is taken over", LONG, async () => {
    expect(await enable()).toMatchObject({ account: ACCOUNT, cold_owner: COLD.address });
    await setOwner(null);
    expect(await enable()).toMatchObject({ cold_owner: COLD.address });
    expect(await faults()).toEqual([]);
  });

  let first: { id: string; payer: PayerWallet };
  test('a mandate for the account of a cold owner is activated and charged', LONG, async () => {
    first = await subscribed('customer-1');
    await active(first);
    expect(await first.payer.balance()).toBe(FUNDS - BigInt(PRICE));
  });

  test(
    'afterwards another owner is refused in one line, and nobody gives a mandate for it',
    LONG,
    async () => {
      await setOwner(null);
      const line = `The policy names ${COLD.address} as the cold owner of account ${ACCOUNT}`;
      await expect(enable()).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(line),
      });
      expect(await faults()).toMatchObject([{ what: 'owner', line: expect.stringContaining(line) }]);
      const { code, stdout } = await florin(['doctor', 'live', '--json'], { env: store.env });
      expect(code).toBe(1);
      const accounts = { check: 'accounts', status: 'missing', found: expect.stringContaining(line) };
      expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(accounts));
      await expect(subscribed('customer-3')).rejects.toThrow('cannot be charged on this network');
      // Charges are refused before they take sequences, which payouts would have to fill.
      const { app } = store.service;
      const chain = app.chains.of(await getMerchant(app.db, store.merchant.merchantId), 'erc20');
      await expect(chain.precheckCharges({ asset: 'USDT', charges: [] })).rejects.toBeInstanceOf(
        SigningBlocked,
      );
      await setOwner(COLD.address);
      await enable();
      expect(await faults()).toEqual([]);
    },
  );

  test(
    'fault 91: the old wallet stays closed and people are told; cancelled, it pays what has waited',
    LONG,
    async () => {
      await dieAt('rotate.closed');
      const { address, id } = await ordered();
      const early = await lookAtRotation(store);
      expect(early.lines).toEqual([]);
      expect(early.waitMs).toBeGreaterThan(1_000_000);
      await asOwner(store.service, 'update wallet_rotation set created_at = created_at - 3600', []);
      const late = await lookAtRotation(store);
      expect(late.lines).toHaveLength(1);
      expect(late.lines[0]).toContain('--cancel');
      await expect.poll(() => store.batch(id), WITHIN).toMatchObject({ status: 'processing' });

      const { code, stdout } = await cancel();
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: 'not_begun', epoch: 1, from: hotOf(0) });
      expect(await rotationOf(store)).toEqual({});
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await store.world.balance('USDT', address)).toBe(2_000_000n);
      expect((await cancel()).stderr).toContain('nothing to cancel');
    },
  );

  test(
    'once the signer has begun the new wallet there is no way back, and the rotation goes on',
    LONG,
    async () => {
      await dieAt('rotate.begun');
      const { code, stderr } = await cancel();
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining('to its end')]);
      await expect.poll(() => rotationOf(store), WITHIN).toEqual({ status: 'closing', epoch: 1 });
      const { address, id } = await ordered();
      const report = await rotate(store, undefined, sendShown);
      expect(report).toMatchObject({ status: 'moving', epoch: 1, to: hotOf(1) });
      const chain = { chain_id: 31_337, from: COLD.address, to: COLLECTOR, value: '0' };
      expect(sent).toMatchObject([chain, chain]);
      // The gas tank gives ether to no address outside of the signer.
      const toOwner = `select attempt_id from transfer_attempt where movement ->> 'to' = 'owner'`;
      expect(await asOwner(store.service, toOwner, [])).toEqual([]);
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await store.world.balance('USDT', address)).toBe(2_000_000n);
      await store.expectSettled();
    },
  );

  test('by the new wallet the mandate is charged for its next period, and new ones too', LONG, async () => {
    await advanceLive(store, 32 * DAY);
    const left = async () => ({ left: String(await first.payer.balance()) });
    await store.until(left, { left: String(FUNDS - 2n * BigInt(PRICE)) });
    const second = await subscribed('customer-2');
    await active(second);
    expect(await second.payer.balance()).toBe(FUNDS - BigInt(PRICE));
    await store.expectSettled();
  });

  test(
    'a service that is two epochs behind moves nothing of that merchant, and says so; others go on',
    LONG,
    async () => {
      const { app } = store.service;
      const { signer } = store;
      for (const epoch of [2, 3])
        await signer.client.beginEpoch({ network: 'erc20', account: ACCOUNT, epoch, passphrase: PASSPHRASE });
      const { address, id } = await ordered();
      const other = store.of(await store.service.createMerchant({ mode: 'live' }));
      await networkCommands(app).enable(other.id, 'erc20');
      await other.paid(50);
      const elsewhere = freshAddress(950);
      const paid = await other.submitted([{ address: elsewhere, amount: '3.00' }]);
      await store.until(() => other.batch(paid), { status: 'completed' });
      expect(await store.world.balance('USDT', elsewhere)).toBe(3_000_000n);

      await expect.poll(() => store.batch(id), WITHIN).toMatchObject({ status: 'processing' });
      expect(await store.world.balance('USDT', address)).toBe(0n);
      expect((await signer.client.status()).frozen).toBeNull();
      const rotated = await runRotate(store, ['--dry-run', '--json']);
      const line = 'has account 2 in epoch 3 and this database in 1: this database is an old copy';
      expect([rotated.code === 0, rotated.stderr]).toEqual([false, expect.stringContaining(line)]);
      expect(await faults()).toMatchObject([{ what: 'epoch', line: expect.stringContaining(line) }]);
    },
  );
});

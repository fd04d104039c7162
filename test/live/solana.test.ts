import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { address } from '@solana/kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { watchTank } from '../../packages/server/src/custody/watch-tank.ts';
import { examineLive } from '../../packages/server/src/operator/live-doctor.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { readConfig } from '../../packages/server/src/platform/config.ts';
import { tokenAccountOf } from '../../packages/signer/src/solana/address.ts';
import { FINAL_BLOCKS } from '../chains/solana/environment.ts';
import { KEYS } from '../chains/solana/key-signer.ts';
import { TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { bodyOf, caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { subscribe } from './solana-payer.ts';
import { SolanaStore, writeNetworks } from './solana-store.ts';

const WITHIN = { timeout: 90_000, interval: 150 };

let store: SolanaStore;
beforeAll(async () => {
  store = await SolanaStore.start();
}, 60_000);
afterAll(async () => await store?.stop());

/** What `florin doctor live` says of the network and of the signer. */
async function examined(genesisHash: string): Promise<Record<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-solana-'));
  const env = { ...store.env, FLORIN_NETWORKS_FILE: writeNetworks(folder, store.local, genesisHash) };
  const checks = await examineLive(readConfig(env, {}, { logLevel: 'silent' }), () =>
    Promise.reject(new Error('there is no database')),
  );
  rmSync(folder, { recursive: true });
  return Object.fromEntries(checks.map(({ check, found }) => [check, found]));
}

const held = async (owner: string) => {
  const account = address(tokenAccountOf(owner, store.local.mint('USDC')));
  return store.local.node.chain.account(account).exists;
};

test('the doctor compares the genesis with the node’s and with the policy’s, and says in one line what differs', async () => {
  const { genesisHash } = store.local.network;
  const host = new URL(store.local.node.url).host;
  const right = await examined(genesisHash);
  expect(right.networks).not.toContain(host);
  expect(right.signer).toContain('it answers and is not frozen');
  const foreign = '1'.repeat(44);
  const wrong = await examined(foreign);
  expect(wrong.networks).toContain(`${host} serves a chain with another genesis (${genesisHash})`);
  expect(wrong.signer).toBe(
    `its policy is for the Solana of genesis ${genesisHash}, the networks file for ${foreign}`,
  );
});

test('payments to named addresses are credited, swept, refunded and paid out, and the books agree with the node', {
  timeout: 120_000,
}, async () => {
  const { service, merchant } = store;
  await store.untilNamed();
  const deposits = [await store.paid(100), await store.paid(50)];
  expect(deposits.map(({ to }) => to)).toEqual([0, 1].map((index) => KEYS.deposit(1, index).address));
  await store.expectBooksAgree();
  // More than the hot wallet holds: both deposits are swept first.
  const recipients = ['a recipient', 'another', 'a third'].map((name) => store.local.wallet(name));
  const created = await caller(service, merchant).create({
    ...bodyOf(['1']),
    currency: 'USDC',
    items: recipients.map((to, i) => ({
      real_name: 'Ada Lovelace',
      network: 'spl' as const,
      address: to,
      amount: `${30 + i}.00`,
    })),
  });
  const id = String(created.json.batch_id);
  expect(await caller(service, merchant).submit(id)).toMatchObject({ status: 200 });
  await store.until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  // Emptied accounts are closed, and their rent comes back.
  for (const { to } of deposits) expect(await held(to)).toBe(false);
  for (const to of recipients) expect(await held(to)).toBe(true);
  const refunding = refunds(service, merchant);
  const { refund_id: refund } = await refunding.refund({
    payment_id: deposits[0]?.paymentId ?? '',
    amount: 7 * TOKEN,
    currency: 'USDC',
    address: store.local.wallet('a payer'),
  });
  await store.until(() => refunding.read(refund), { status: 'succeeded' });
  await store.expectBooksAgree();
  // 150 came, 93 and 7 went; coins are shown as SOL.
  const lines = await treasuryCommands(service.app).status();
  expect(lines).toMatchObject([
    {
      wallet: 'gas_tank',
      network: 'spl',
      address: KEYS.hot(0).address,
      coin: expect.stringMatching(/^999\.[0-9]{1,9}$/),
    },
    {
      wallet: 'hot',
      network: 'spl',
      address: KEYS.hot(1).address,
      coin: '0',
      USDC: '50.00',
      unswept_USDC: '0.00',
    },
  ]);
});

test('J6, fault 54: while the fee payer has no SOL payouts wait without a signature, and go on once it is filled', {
  timeout: 120_000,
}, async () => {
  const { local, service, merchant, logged } = store;
  const { node } = local;
  const feePayer = address(KEYS.hot(0).address);
  const held = (await service.app.chains.readTank('spl'))?.native ?? 0n;
  const attempts = () => asOwner(service, "select from transfer_attempt where network = 'spl'");
  const before = (await attempts()).length;
  node.controls.fund(feePayer, -held);
  await watchTank(service.app);
  const created = await caller(service, merchant).create({
    ...bodyOf(['1']),
    currency: 'USDC',
    items: [{ real_name: 'Ada Lovelace', network: 'spl', address: local.wallet('a fourth'), amount: '2.00' }],
  });
  const id = String(created.json.batch_id);
  await caller(service, merchant).submit(id);
  await vi.waitFor(async () => {
    local.mine(2);
    expect(logged).toContainEqual(expect.objectContaining({ waiting: 'tank_low' }));
  }, WITHIN);
  expect(await attempts()).toHaveLength(before);
  expect(await (await fetch(`${service.baseUrl}/metrics`)).text()).toContain(
    'florin_gas_tank_coins{network="spl"} 0',
  );
  node.controls.fund(feePayer, held);
  await store.until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  expect(logged).toContainEqual(
    expect.objectContaining({ event: 'gas_tank_low', network: 'spl', address: feePayer }),
  );
  expect(await attempts()).toHaveLength(before + 1);
  await store.expectBooksAgree();
});

test('J3: mandates of one wallet at two merchants are charged for two periods, until its owner revokes; the books agree', {
  timeout: 180_000,
}, async () => {
  const { service, local } = store;
  const merchants = [store.merchant, await store.another()];
  const wallet = { owner: local.wallet('a subscriber'), asset: 'USDC' } as const;
  await local.hold(wallet, 1_000n * BigInt(TOKEN));
  const held = async () => {
    local.mine(FINAL_BLOCKS);
    const chain = service.app.chains.of({ ...store.merchant, mode: 'live' }, 'spl');
    return await chain.balance(wallet.owner, 'USDC', 'final');
  };
  const price = 20 * TOKEN;
  const subscriptions = [];
  for (const merchant of merchants) {
    const calls = billing(service, merchant);
    const order = { customer: 'a subscriber', currency: 'USDC', items: [item(price, 'day', 'USDC')] };
    const ordered = await calls.make(order);
    const offer = await subscribe(store, ordered, wallet.owner);
    subscriptions.push({ calls, id: ordered.id, offer });
  }
  // No wallet is asked for what the signer would never charge: `charges.per_transfer` is 200.
  const dear = await billing(service, store.merchant).make({
    customer: 'a subscriber',
    currency: 'USDC',
    items: [item(201 * TOKEN, 'day', 'USDC')],
  });
  await expect(subscribe(store, dear, wallet.owner)).rejects.toThrow('above 200.00 tokens');
  const [first, second] = subscriptions.map(({ offer }) => offer);
  const delegate = KEYS.delegate().address;
  expect([first?.spender, second?.spender]).toEqual([delegate, delegate]);
  // The second merchant's approval keeps what the first may still pull.
  expect(BigInt(second?.steps[0]?.amount ?? 0)).toBeGreaterThan(BigInt(first?.steps[0]?.amount ?? 0));
  for (const { calls, id } of subscriptions) await store.until(() => calls.read(id), { status: 'active' });
  expect(await held()).toBe(960n * BigInt(TOKEN));
  await store.pass(merchants, DAY);
  await store.until(async () => ({ held: await held() }), { held: 920n * BigInt(TOKEN) });
  for (const { calls, id } of subscriptions) await store.until(() => calls.latest(id), { status: 'paid' });
  await store.expectBooksAgree();
  await local.revoke({ payer: wallet.owner, asset: 'USDC' });
  local.mine(FINAL_BLOCKS);
  await store.pass(merchants, DAY);
  for (const { calls, id } of subscriptions) await store.until(() => calls.read(id), { status: 'past_due' });
  expect(await held()).toBe(920n * BigInt(TOKEN));
  await store.expectBooksAgree();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { watchTank } from '../../packages/server/src/custody/watch-tank.ts';
import { examineLive } from '../../packages/server/src/operator/live-doctor.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { readConfig } from '../../packages/server/src/platform/config.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { readTankUse, readUnderWay } from '../../packages/server/src/transfers/attempts/movements.ts';
import { FINAL_BLOCKS } from '../chains/tron/environment.ts';
import { KEYS } from '../chains/tron/key-signer.ts';
import { TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { hex, native, sendOk, TRX } from '../nodes/tron-client.ts';
import { bodyOf, caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { type Boundary, GivenUp, Process } from '../transfers/process.ts';
import { startRatesProvider } from './rates-provider.ts';
import { TronStore, writeNetworks } from './tron-store.ts';

const WITHIN = { timeout: 90_000, interval: 150 };
const TANK = KEYS.hot(0).address;
const HOT = KEYS.hot(1).address;
const STAKE = 100_000 * TRX;

const folder = mkdtempSync(path.join(tmpdir(), 'florin-doctor-tron-'));
let store: TronStore;
let local: TronStore['local'];
let service: TestService;
let merchant: TestMerchant;
let worker: Awaited<ReturnType<TestService['startWorker']>>;
let rates: Awaited<ReturnType<typeof startRatesProvider>>;
let lines: TronStore['logged'];

beforeAll(async () => {
  store = await TronStore.start({ worker: false });
  ({ local, service, merchant, logged: lines } = store);
  worker = await service.startWorker();
  // A sweep costs some 8.4 TRX, which are 2.44 dollars.
  rates = await startRatesProvider();
  await settingCommands(service.app).set('rates.sources', rates.source);
}, 60_000);
afterAll(async () => {
  await store?.stop();
  rates?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What `florin doctor live` says of the network and of the signer. */
async function examined(genesisHash: string): Promise<Record<string, string>> {
  const file = writeNetworks(folder, local, genesisHash);
  const env = { FLORIN_NETWORKS_FILE: file, FLORIN_SIGNER: `unix:${store.signer.socket}` };
  const checks = await examineLive(readConfig(env, {}, { logLevel: 'silent' }), () =>
    Promise.reject(new Error('there is no database')),
  );
  return Object.fromEntries(checks.map(({ check, found }) => [check, found]));
}

const until: TronStore['until'] = (what, expected) => store.until(what, expected);
const expectBooksAgree = () => store.expectBooksAgree();
const paid = (tokens: number) => store.paid(tokens);

/** Submits a batch. @returns its id */
async function submitted(items: { to: string; amount: string }[]): Promise<string> {
  const created = await caller(service, merchant).create({
    ...bodyOf(['1']),
    currency: 'USDT',
    items: items.map(({ to, amount }) => ({
      real_name: 'Ada Lovelace',
      network: 'trc20' as const,
      address: to,
      amount,
    })),
  });
  const id = String(created.json.batch_id);
  expect(await caller(service, merchant).submit(id)).toMatchObject({ status: 200 });
  return id;
}

const attempts = () =>
  asOwner(
    service,
    "select key_ref, status, movement, fee_native::text as fee from transfer_attempt where network = 'trc20' order by created_at, ordinal",
  );

test('the doctor compares the genesis with the node’s and with the policy’s, asks for constant calls and for the history', async () => {
  const { genesisHash } = local.network;
  const { endpoint } = local.node;
  const { host } = new URL(local.node.url);
  const right = await examined(genesisHash);
  expect(right.networks).not.toContain(host);
  expect(right.signer).toContain('it answers and is not frozen');
  const foreign = '1'.repeat(64);
  const wrong = await examined(foreign);
  expect(wrong.networks).toContain(`${host} serves a chain with another first block (${genesisHash})`);
  expect(wrong.signer).toBe(
    `its policy is for the Tron of genesis ${genesisHash}, the networks file for ${foreign}`,
  );
  await local.give('USDT', local.wallet('somebody'), 1n);
  await local.mine(FINAL_BLOCKS);
  endpoint.view.history = false;
  expect((await examined(genesisHash)).networks).toContain(`${host} keeps no history of transactions`);
  endpoint.view.history = true;
  endpoint.view.constant = false;
  expect((await examined(genesisHash)).networks).toContain(
    'the node runs no constant calls (vm.supportConstant)',
  );
  endpoint.view.constant = true;
});

test('a payment is credited, its address gets TRX and sweeps itself, a batch and a refund are paid, and the books agree with the node', {
  timeout: 120_000,
}, async () => {
  const deposit = await paid(100);
  expect(deposit.to).toBe(KEYS.deposit(1, 0).address);
  await expectBooksAgree();
  const recipients = ['a recipient', 'another', 'a third'].map((name) => local.wallet(name));
  const id = await submitted(recipients.map((to, i) => ({ to, amount: `${20 + i}.00` })));
  // The deposit has to be swept first, and nobody has TRX yet: everything waits without a signature.
  await vi.waitFor(async () => {
    await local.mine(1);
    expect(lines).toContainEqual(expect.objectContaining({ waiting: 'tank_low' }));
  }, WITHIN);
  expect(await attempts()).toEqual([]);
  local.node.fund(TANK, 1_000 * TRX);
  await until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  const sweeps = async () =>
    (await attempts()).filter(({ key_ref: key, status }) => key === 'deposit:0' && status !== 'dead');
  await until(sweeps, [{ status: 'succeeded' }]);
  const made = await attempts();
  // One that a loaded machine sends too late expires, and another takes its place.
  const given = made.filter(({ key_ref: key, status }) => key === 'tank' && status === 'succeeded');
  const gas = given.map(({ movement }) => movement);
  expect(gas.filter((one) => Object(one).to === 'deposit:0')).toHaveLength(1);
  expect(gas.filter((one) => Object(one).to === undefined).length).toBeGreaterThan(0);
  expect(made.map(({ status }) => status)).not.toContain('failed');
  const payments = made.filter(({ key_ref: key, status }) => key === 'hot' && status === 'succeeded');
  expect(payments).toHaveLength(recipients.length);
  const refunding = refunds(service, merchant);
  const { refund_id: refund } = await refunding.refund({
    payment_id: deposit.paymentId,
    amount: 7 * TOKEN,
    currency: 'USDT',
    address: local.wallet('a payer'),
  });
  await until(() => refunding.read(refund), { status: 'succeeded' });
  await expectBooksAgree();
  // 100 came, 63 and 7 went.
  expect(await treasuryCommands(service.app).status()).toMatchObject([
    {
      wallet: 'gas_tank',
      network: 'trc20',
      address: TANK,
      coin: expect.stringMatching(/^[0-9]{3}\./),
      coin_usd: expect.stringMatching(/^2[0-9]{2}\./),
      fees_30_days_usd: expect.stringMatching(/^[0-9]+\.[0-9]{6}$/),
    },
    { wallet: 'hot', network: 'trc20', address: HOT, USDT: '30.00', unswept_USDT: '0.00' },
  ]);
});

test('a payment above what the hot wallet holds has deposits swept that are worth their TRX, within the merchant’s day', {
  timeout: 60_000,
}, async () => {
  // Both are below custody.sweep_minimum, one is worth less than its sweep.
  const { to } = await paid(4.5);
  const { to: dust } = await paid(2);
  const chain = service.app.chains.of({ merchantId: merchant.merchantId, mode: 'live' }, 'trc20');
  const held = async () => (await chain.balances([to, dust], 'USDT', 'tip')).balances;
  expect(Object.fromEntries(await held())).toEqual({ [to]: 4_500_000n, [dust]: 2_000_000n });
  const { set } = settingCommands(service.app);
  await set('transfers.trx_per_day', '1.00');
  lines.length = 0;
  const id = await submitted([{ to: local.wallet('whoever is paid'), amount: '30.30' }]);
  await vi.waitFor(async () => {
    await local.mine(1);
    expect(lines).toContainEqual(expect.objectContaining({ waiting: 'gas_day' }));
  }, WITHIN);
  await set('transfers.trx_per_day', '1000.00');
  await until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  expect(Object.fromEntries(await held())).toEqual({ [dust]: 2_000_000n });
  const given = (await attempts()).map(({ movement }) => String(Object(movement).to));
  expect(given.filter((one) => one === 'deposit:1')).not.toEqual([]);
  expect(given.filter((one) => one === 'deposit:2')).toEqual([]);
  expect(lines).not.toContainEqual(expect.objectContaining({ waiting: 'call_reverts' }));
  await expectBooksAgree();
});

/** The service with what it would log as an error. */
function listened() {
  const logged: object[] = [];
  const error = (...line: unknown[]) => logged.push(Object(line[0]));
  return { logged, deps: { ...service.app, log: { ...service.app.log, error } as typeof service.app.log } };
}

test('the alarm of a low tank has a minimum in TRX', async () => {
  const { logged, deps } = listened();
  await watchTank(deps);
  expect(logged).toEqual([]);
  const { set } = settingCommands(service.app);
  await set('custody.trx_minimum', '5000.00');
  await watchTank(deps);
  expect(logged).toEqual([
    expect.objectContaining({ event: 'gas_tank_low', network: 'trc20', address: TANK }),
  ]);
  await set('custody.trx_minimum', '200.00');
  logged.length = 0;
  const stake = (await service.app.chains.readTank('trc20'))?.stake;
  const staked = (stake?.free ?? 0n) + (stake?.lent ?? 0n);
  const minimum = `${staked / 1_000_000n + 1n}.00`;
  await set('custody.trx_stake_minimum', minimum);
  await watchTank(deps);
  expect(logged).toEqual([
    expect.objectContaining({ event: 'gas_tank_stake_low', address: TANK, staked: String(staked) }),
  ]);
  await set('custody.trx_stake_minimum', '0.00');
});

test('what was decided after the wallets were read counts as if it were on its way', async () => {
  const { merchantId } = merchant;
  const made = await asOwner<{
    key_ref: string;
    to: string | null;
    fee: string;
    amount: string;
    height: string;
  }>(
    service,
    `select key_ref, movement ->> 'to' as to, fee_native::text as fee, movement ->> 'amount' as amount, height::text
     from transfer_attempt where network = 'trc20' and status = 'succeeded'`,
  );
  const sumOf = (list: (string | null)[]) => list.reduce((sum, one) => sum + BigInt(one ?? 0), 0n);
  const counted = (asOf: bigint) =>
    transact(service.app.db, async (tx) => {
      const hot = { network: 'trc20', sender: HOT, chainNext: null, asOf } as const;
      const tank = { ...hot, sender: TANK };
      const query = { merchantId, currency: 'USDT', hot, tank } as const;
      const { fees, gas } = await readUnderWay(tx, query);
      const { gas: forDeposit } = await readUnderWay(tx, { ...query, gasTo: 'deposit:1' });
      return { fees, gas, forDeposit, tank: (await readTankUse(tx, tank, 0n)).tankSpending };
    });
  const heights = made.map(({ height }) => BigInt(height)).toSorted((a, b) => Number(a - b));
  const highest = heights.at(-1) ?? 0n;
  expect(await counted(highest)).toEqual({ fees: 0n, gas: 0n, forDeposit: 0n, tank: 0n });
  for (const asOf of [0n, heights[heights.length >> 1] ?? 0n, highest - 1n]) {
    const since = made.filter(({ height }) => BigInt(height) > asOf);
    const hot = since.filter(({ key_ref: key }) => key === 'hot');
    const given = since.filter(({ key_ref: key }) => key === 'tank');
    const amountsTo = (whom: string | null) =>
      sumOf(given.filter(({ to }) => to === whom).map(({ amount }) => amount));
    expect(await counted(asOf)).toEqual({
      fees: sumOf(hot.map(({ fee }) => fee)),
      gas: amountsTo(null),
      forDeposit: amountsTo('deposit:1'),
      tank: sumOf(given.flatMap(({ fee, amount }) => [fee, amount])),
    });
  }
});

/** What the wallet of the installation has lent, whomever to, in sun. */
const lent = async () => Number((await service.app.chains.readTank('trc20'))?.stake?.lent ?? 0n);

test('J1: processes that die between any two steps give TRX once, lend energy, sweep and take it back once, and pay once', {
  timeout: 240_000,
}, async () => {
  const { merchantId } = merchant;
  // Nothing is ordered before the processes of this test are there.
  const held = Number((await service.app.chains.readTank('trc20'))?.native ?? 0n);
  local.node.fund(TANK, -held);
  await local.mine(FINAL_BLOCKS);
  const { to: deposit } = await paid(40);
  await worker.stop(10_000);
  local.node.fund(TANK, held);
  local.node.stake(TANK, STAKE);
  await local.mine(FINAL_BLOCKS);
  const recipient = local.wallet('somebody who is paid once');
  const id = await submitted([{ to: recipient, amount: '30.00' }]);
  const before = (await attempts()).length;
  const deadOwners: number[] = [];
  const isDone = async () => {
    const { status } = await merchant.sdk.payouts.retrieve(id);
    const open = await asOwner(
      service,
      "select from transfer where network = 'trc20' and completed_at is null",
    );
    const moving = await asOwner(
      service,
      "select from transfer_attempt where network = 'trc20' and status in ('reserved', 'signed', 'sent')",
    );
    return status === 'completed' && open.length + moving.length === 0 && (await lent()) === 0;
  };
  // A process dies at each boundary once in each state of what was ordered.
  const diedAt = new Set<string>();
  const at = async ({ name }: Boundary): Promise<void> => {
    // These change nothing.
    if (/claim|nextSequence/.test(name)) return;
    const place = `${name} ${JSON.stringify((await attempts()).slice(before))}`;
    if (diedAt.has(place)) return;
    diedAt.add(place);
    throw new GivenUp(name);
  };
  while (!(await isDone())) {
    const process = new Process(service.app, merchantId, { at, deadOwners, isSweeping: true });
    try {
      while ((await process.step()) !== undefined) await local.mine(1);
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
    }
    deadOwners.push(process.owner);
  }
  const deaths = (step: string) => [...diedAt].filter((place) => place.startsWith(`${step} `)).length;
  // A top-up, a loan, a sweep, a payment and the end of the loan.
  for (const step of ['before build', 'after build', 'before broadcast', 'after broadcast', 'after status'])
    expect(deaths(step)).toBeGreaterThanOrEqual(5);
  const made = (await attempts()).slice(before);
  const kept = made.filter(({ status }) => status !== 'dead');
  const kinds = kept.map(({ key_ref: key, movement }) => {
    const { kind = '', to = '' } = Object(movement);
    return `${key} ${kind} ${to}`;
  });
  const once = ['tank gas deposit:3', 'tank lend deposit:3', 'deposit:3  ', 'tank unlend deposit:3', 'hot  '];
  expect(kinds.filter((kind) => once.includes(kind)).toSorted()).toEqual(once.toSorted());
  // The sweep has burnt nothing, and the address was given what stake does not pay.
  const given = kept.find(({ movement }) => Object(movement).to === 'deposit:3');
  expect(given).toMatchObject({ movement: { kind: 'gas', amount: '410000' } });
  expect(kept.find(({ key_ref: key }) => key === 'deposit:3')).toMatchObject({ fee: '0' });
  expect(await treasuryCommands(service.app).status()).toContainEqual(
    expect.objectContaining({ wallet: 'gas_tank', stake: '100000', stake_lent: '0' }),
  );
  expect(kept.every(({ status }) => status === 'succeeded')).toBe(true);
  const chain = service.app.chains.of({ merchantId, mode: 'live' }, 'trc20');
  await local.mine(FINAL_BLOCKS);
  const { balances } = await chain.balances([recipient, deposit, HOT], 'USDT', 'final');
  expect([...balances]).toEqual([
    [recipient, 30_000_000n],
    [HOT, 14_200_000n],
  ]);
  await expectBooksAgree();
});

test('what a copy of the database does not know to be lent comes back after a look at all loans, and a stranger’s is named', {
  timeout: 120_000,
}, async () => {
  const LOAN = 1_000 * TRX;
  const [deposit, stranger] = [KEYS.deposit(1, 3).address, local.wallet('a stranger')];
  local.node.fund(stranger, TRX);
  const tank = { address: TANK, secret: Buffer.from(KEYS.hot(0).privateKey).toString('hex') };
  const delegate = async (contract: string, to: string) => {
    const value = { receiver_address: hex(to), balance: LOAN, resource: 'ENERGY' };
    await sendOk(await native(tank, contract, value, { url: local.node.url }), local.node.url);
    await local.mine(FINAL_BLOCKS);
  };
  for (const to of [deposit, stranger]) await delegate('DelegateResourceContract', to);
  expect(await lent()).toBe(2 * LOAN);
  const before = (await attempts()).length;
  const { logged, deps } = listened();
  await watchTank(deps);
  expect(logged).toEqual([expect.objectContaining({ event: 'gas_tank_lent', addresses: [stranger] })]);
  worker = await service.startWorker();
  await until(async () => ({ lent: await lent() }), { lent: LOAN });
  const taken = async () => (await attempts()).slice(before).filter(({ status }) => status !== 'dead');
  const movement = { kind: 'unlend', to: 'deposit:3', staked: String(LOAN) };
  await until(taken, [{ key_ref: 'tank', status: 'succeeded', movement }]);
  await delegate('UnDelegateResourceContract', stranger);
  logged.length = 0;
  await watchTank(deps);
  expect(logged).toEqual([]);
  await expectBooksAgree();
});

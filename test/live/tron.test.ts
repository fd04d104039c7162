import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TOKEN_CONTRACTS } from '../../packages/server/src/chains/addresses/token-contracts.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { watchTank } from '../../packages/server/src/custody/watch-tank.ts';
import { examineLive } from '../../packages/server/src/operator/live-doctor.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { readConfig } from '../../packages/server/src/platform/config.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { readTankUse, readUnderWay } from '../../packages/server/src/transfers/attempts/movements.ts';
import { FINAL_BLOCKS, TronEnvironment } from '../chains/tron/environment.ts';
import { KEYS } from '../chains/tron/key-signer.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { TRX } from '../nodes/tron-stage.ts';
import { bodyOf, caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { type Boundary, GivenUp, Process } from '../transfers/process.ts';
import { ETHEREUM_AWAY } from './ethereum-away.ts';
import { startRatesProvider } from './rates-provider.ts';

// A live store on a local Tron, with a signer behind its socket. Nothing answers for Ethereum.

const WITHIN = { timeout: 40_000, interval: 150 };
const TANK = KEYS.hot(0).address;
const HOT = KEYS.hot(1).address;

const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-tron-'));
let local: TronEnvironment;
let signer: Awaited<ReturnType<typeof startWholeSigner>>;
let service: TestService;
let merchant: TestMerchant;
let worker: Awaited<ReturnType<TestService['startWorker']>>;
let rates: Awaited<ReturnType<typeof startRatesProvider>>;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  local = await TronEnvironment.start();
  const { genesisHash, feeCeilings } = local.network;
  signer = await startWholeSigner(
    (policy) => {
      Object.assign(policy.networks.trc20, {
        genesis: genesisHash,
        tokens: { USDT: local.token('USDT'), USDC: local.token('USDC') },
        fee_limit: String(feeCeilings.feeLimit),
        gas_top_up: String(100 * TRX),
        gas_top_ups_per_day: String(1_000 * TRX),
      });
      policy.payouts.approve_above = '1000.00';
      policy.refunds.approve_above = '1000.00';
    },
    // Blocks are made by hand, each 3 seconds after the one before.
    () => local.node.chain.head.time,
  );
  service = await startService({
    log: createLogger('error', { write: (line) => void lines.push(JSON.parse(line)) }),
    live: { network: ETHEREUM_AWAY, tron: local.network, signer: { socket: signer.socket } },
  });
  worker = await service.startWorker();
  merchant = await service.createMerchant({ mode: 'live', network: 'trc20' });
  await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'trc20');
  await settingCommands(service.app).set('refunds.delay_seconds', '0');
  // A sweep costs some 8.4 TRX, which are 2.44 dollars.
  rates = await startRatesProvider();
  await settingCommands(service.app).set('rates.sources', rates.source);
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await signer?.stop();
  await local?.node.stop();
  rates?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What `florin doctor live` says of the network and of the signer. */
async function examined(genesisHash: string): Promise<Record<string, string>> {
  const { url } = local.node;
  const own = { test: true, explorer: null };
  const erc20 = {
    ...own,
    name: 'an Ethereum that is away',
    endpoints: [{ url: 'http://127.0.0.1:1', own: true }],
    chain_id: 31_337,
    genesis_hash: ETHEREUM_AWAY.genesisHash,
    tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT, decimals: 6 } },
    contracts: { batch_payout: null, sweeper: null },
    finality: { tag: 'finalized', early_confirmations: null },
    fee_ceilings: { max_fee_per_gas: '1', max_priority_fee_per_gas: '1', gas_per_transaction: 1_000_000 },
  };
  const trc20 = {
    ...own,
    name: 'Tron',
    endpoints: [{ url, own: true, solid_url: url }],
    genesis_hash: genesisHash,
    tokens: { USDT: { address: local.token('USDT'), decimals: 6 } },
    fee_ceilings: { fee_limit: '100000000' },
  };
  const file = path.join(folder, 'networks.json');
  writeFileSync(file, JSON.stringify({ networks: { erc20, trc20 } }));
  const env = { FLORIN_NETWORKS_FILE: file, FLORIN_SIGNER: `unix:${signer.socket}` };
  const checks = await examineLive(readConfig(env, {}, { logLevel: 'silent' }), () =>
    Promise.reject(new Error('there is no database')),
  );
  return Object.fromEntries(checks.map(({ check, found }) => [check, found]));
}

/** Makes blocks until the answer has these values. */
async function until(what: () => Promise<unknown>, expected: object): Promise<void> {
  await vi.waitFor(async () => {
    await local.mine(1);
    expect(await what()).toMatchObject(expected);
  }, WITHIN);
}

async function expectBooksAgree(): Promise<void> {
  await local.mine(FINAL_BLOCKS + 1);
  const { differences, surpluses, unseen } = await verifyLedger(service.app, () => {});
  expect({ differences, surpluses }).toEqual({ differences: [], surpluses: [] });
  expect(unseen.filter((line) => line.includes('trc20'))).toEqual([]);
}

async function paid(tokens: number): Promise<{ paymentId: string; to: string }> {
  const session = await checkout(service, merchant).open({ amount: tokens * TOKEN, currency: 'USDT' });
  const row = await getSession(service.app.db, merchant, session.id);
  const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
  const { options } = await chooseOption(service.app, who, row, { currency: 'USDT', network: 'trc20' });
  const to = options[0]?.address ?? '';
  const amount = BigInt(options[0]?.pay_amount ?? 0);
  await local.pay([{ from: local.wallet('a payer'), to, asset: 'USDT', amount }]);
  const payment = () => checkout(service, merchant).payment(session.payment_id);
  await until(payment, { status: 'completed', amount_received: tokens * TOKEN });
  return { paymentId: session.payment_id, to };
}

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
    "select key_ref, status, movement from transfer_attempt where network = 'trc20' order by created_at, ordinal",
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

test('the alarm of a low tank has a minimum in TRX', async () => {
  const logged: object[] = [];
  const error = (...line: unknown[]) => logged.push(Object(line[0]));
  const deps = { ...service.app, log: { ...service.app.log, error } as typeof service.app.log };
  await watchTank(deps);
  expect(logged).toEqual([]);
  const { set } = settingCommands(service.app);
  await set('custody.trx_minimum', '5000.00');
  await watchTank(deps);
  expect(logged).toEqual([
    expect.objectContaining({ event: 'gas_tank_low', network: 'trc20', address: TANK }),
  ]);
  await set('custody.trx_minimum', '200.00');
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

test('J1: processes that die between any two steps give TRX once, sweep once and pay once', {
  timeout: 120_000,
}, async () => {
  const { merchantId } = merchant;
  // Nothing is ordered before the processes of this test are there.
  const held = Number((await service.app.chains.readTank('trc20'))?.native ?? 0n);
  local.node.fund(TANK, -held);
  await local.mine(FINAL_BLOCKS);
  const { to: deposit } = await paid(40);
  await worker.stop(10_000);
  local.node.fund(TANK, held);
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
    return status === 'completed' && open.length === 0;
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
  // A top-up, a sweep and a payment.
  for (const step of ['before build', 'after build', 'before broadcast', 'after broadcast', 'after status'])
    expect(deaths(step)).toBeGreaterThanOrEqual(3);
  const made = (await attempts()).slice(before);
  const kept = made.filter(({ status }) => status !== 'dead');
  const kinds = kept.map(({ key_ref: key, movement }) => `${key} ${Object(movement).to ?? ''}`);
  expect(kinds.filter((kind) => kind === 'tank deposit:3')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'deposit:3 ')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'hot ')).toHaveLength(1);
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

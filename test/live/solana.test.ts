import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { address } from '@solana/kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TOKEN_CONTRACTS } from '../../packages/server/src/chains/addresses/token-contracts.ts';
import type { EvmNetwork } from '../../packages/server/src/chains/evm/network.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { watchTank } from '../../packages/server/src/custody/watch-tank.ts';
import { examineLive } from '../../packages/server/src/operator/live-doctor.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { readConfig } from '../../packages/server/src/platform/config.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { tokenAccountOf } from '../../packages/signer/src/solana/address.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from '../chains/solana/environment.ts';
import { KEYS } from '../chains/solana/key-signer.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { bodyOf, caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';

// A live store on a local Solana, with a signer behind its socket. Nothing answers for Ethereum.

const WITHIN = { timeout: 40_000, interval: 150 };
const ETHEREUM_AWAY: EvmNetwork = {
  name: 'an Ethereum that is away',
  isTest: true,
  endpoints: [{ url: 'http://127.0.0.1:1', isOwn: true }],
  chainId: 31_337,
  publicEndpoint: null,
  genesisHash: `0x${'00'.repeat(32)}`,
  tokens: {},
  batchPayout: null,
  sweeper: null,
  collector: null,
  finality: { tag: 'finalized', earlyConfirmations: null },
  feeCeilings: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasPerTransaction: 1_000_000n },
  explorer: null,
};

const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-solana-'));
let local: SolanaEnvironment;
let signer: Awaited<ReturnType<typeof startWholeSigner>>;
let service: TestService;
let merchant: TestMerchant;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  const { genesisHash, feeCeilings, tokens } = local.network;
  signer = await startWholeSigner((policy) => {
    Object.assign(policy.networks.spl, {
      genesis: genesisHash,
      tokens: { USDT: tokens.USDT?.mint, USDC: tokens.USDC?.mint },
      compute_units: feeCeilings.computeUnits,
      priority_fee: String(feeCeilings.priorityFee),
    });
    policy.payouts.approve_above = '1000.00';
    policy.refunds.approve_above = '1000.00';
  });
  service = await startService({
    worker: true,
    log: createLogger('error', { write: (line) => void lines.push(JSON.parse(line)) }),
    live: { network: ETHEREUM_AWAY, solana: local.network, signer: { socket: signer.socket } },
  });
  merchant = await service.createMerchant({ mode: 'live', network: 'spl' });
  await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'spl');
  await settingCommands(service.app).set('refunds.delay_seconds', '0');
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await signer?.stop();
  await local?.node.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What `florin doctor live` says of the network and of the signer. */
async function examined(genesisHash: string): Promise<Record<string, string>> {
  const { url } = local.node;
  const { USDT, USDC } = local.network.tokens;
  const token = (one: { mint: string } | undefined) => ({ address: one?.mint ?? '', decimals: 6 });
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
  const spl = {
    ...own,
    name: 'Solana',
    endpoints: [{ url, own: true }],
    genesis_hash: genesisHash,
    tokens: { USDT: token(USDT), USDC: token(USDC) },
    fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
  };
  const file = path.join(folder, 'networks.json');
  writeFileSync(file, JSON.stringify({ networks: { erc20, spl } }));
  const env = { FLORIN_NETWORKS_FILE: file, FLORIN_SIGNER: `unix:${signer.socket}` };
  const checks = await examineLive(readConfig(env, {}, { logLevel: 'silent' }), () =>
    Promise.reject(new Error('there is no database')),
  );
  return Object.fromEntries(checks.map(({ check, found }) => [check, found]));
}

/** Makes blocks until the answer has these values. */
async function until(what: () => Promise<unknown>, expected: object): Promise<void> {
  await vi.waitFor(async () => {
    local.mine(2);
    expect(await what()).toMatchObject(expected);
  }, WITHIN);
}

async function expectBooksAgree(): Promise<void> {
  local.mine(FINAL_BLOCKS + 1);
  const { differences, surpluses, unseen } = await verifyLedger(service.app, () => {});
  expect({ differences, surpluses }).toEqual({ differences: [], surpluses: [] });
  expect(unseen.filter((line) => line.includes('spl'))).toEqual([]);
}

async function paid(tokens: number): Promise<{ paymentId: string; to: string }> {
  const session = await checkout(service, merchant).open({ amount: tokens * TOKEN, currency: 'USDC' });
  const row = await getSession(service.app.db, merchant, session.id);
  const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
  const { options } = await chooseOption(service.app, who, row, { currency: 'USDC', network: 'spl' });
  const to = options[0]?.address ?? '';
  const amount = BigInt(options[0]?.pay_amount ?? 0);
  await local.pay([{ from: local.wallet('a payer'), to, asset: 'USDC', amount }]);
  const payment = () => checkout(service, merchant).payment(session.payment_id);
  await until(payment, { status: 'completed', amount_received: tokens * TOKEN });
  return { paymentId: session.payment_id, to };
}

const held = async (owner: string) => {
  const account = address(tokenAccountOf(owner, local.mint('USDC')));
  return local.node.chain.account(account).exists;
};

test('the doctor compares the genesis with the node’s and with the policy’s, and says in one line what differs', async () => {
  const { genesisHash } = local.network;
  const host = new URL(local.node.url).host;
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
  const named = () => service.app.chains.of({ ...merchant, mode: 'live' }, 'spl').sender('deposit:0');
  await until(async () => ({ first: await named().catch(() => undefined) }), {
    first: KEYS.deposit(1, 0).address,
  });
  const deposits = [await paid(100), await paid(50)];
  expect(deposits.map(({ to }) => to)).toEqual([0, 1].map((index) => KEYS.deposit(1, index).address));
  await expectBooksAgree();
  // More than the hot wallet holds: both deposits are swept first.
  const recipients = ['a recipient', 'another', 'a third'].map((name) => local.wallet(name));
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
  await until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  // Emptied accounts are closed, and their rent comes back.
  for (const { to } of deposits) expect(await held(to)).toBe(false);
  for (const to of recipients) expect(await held(to)).toBe(true);
  const refunding = refunds(service, merchant);
  const { refund_id: refund } = await refunding.refund({
    payment_id: deposits[0]?.paymentId ?? '',
    amount: 7 * TOKEN,
    currency: 'USDC',
    address: local.wallet('a payer'),
  });
  await until(() => refunding.read(refund), { status: 'succeeded' });
  await expectBooksAgree();
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
    expect(lines).toContainEqual(expect.objectContaining({ waiting: 'tank_low' }));
  }, WITHIN);
  expect(await attempts()).toHaveLength(before);
  expect(await (await fetch(`${service.baseUrl}/metrics`)).text()).toContain(
    'florin_gas_tank_coins{network="spl"} 0',
  );
  node.controls.fund(feePayer, held);
  await until(() => merchant.sdk.payouts.retrieve(id), { status: 'completed' });
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'gas_tank_low', network: 'spl', address: feePayer }),
  );
  expect(await attempts()).toHaveLength(before + 1);
  await expectBooksAgree();
});

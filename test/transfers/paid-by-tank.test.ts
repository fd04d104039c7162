import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { attemptsOf as attemptsOfCharge, expectPulledOnce, newCharge, paymentOf } from './charges.ts';
import { attemptsOf, expectPaidOnce, moveClock, newMerchant, type Payout, statusOf } from './payouts.ts';
import { Process } from './process.ts';

// The gas tank pays for all transactions here, by the port's words, as Solana's fee payer does.

const OPENING = 2_039_280n;
const FEE = 5_000n;
/** Of eight recipients. */
const FULL = FEE + 8n * OPENING;
const RUNS = 6;
const DAY = 86_400;

let service: TestService;
let holds = 0n;
let areFrozen = false;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const log = createLogger('error', { write: (line) => void lines.push(JSON.parse(line)) });
  service = await startService({
    log,
    simchainTiming: { tankHolds: () => holds, areFrozen: () => areFrozen },
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  holds = 100n * FULL;
  areFrozen = false;
  lines.length = 0;
});

/** One submitted batch, of that many recipients who have none of the token. */
async function payoutTo(count: number): Promise<Payout> {
  const merchant = await newMerchant(service, 'spl');
  const chain = service.app.chains.sandbox(merchant.merchantId, 'spl');
  const { batch_id: batchId } = await merchant.sdk.payouts.create({
    currency: 'USDT',
    items: Array.from({ length: count }, (_, i) => ({
      network: 'spl',
      address: chain.payerAddress(`recipient ${i}`),
      amount: `${i + 1}.00`,
    })),
  });
  await merchant.sdk.payouts.submit(batchId);
  return { merchant, batchId, network: 'spl', chain };
}

const processOf = ({ merchant }: Payout) => new Process(service.app, merchant.merchantId);

/** Runs, and makes blocks for what was sent. */
async function runFor(payout: Payout, runs = RUNS): Promise<void> {
  const process = processOf(payout);
  for (let run = 0; run < runs; run++) {
    await process.stepAll(2);
    await payout.chain.mine(4);
  }
}

const ceilingOf = ({ merchant }: Payout, ceiling: string) =>
  settingCommands(service.app).set(
    'transfers.opening_ceiling',
    ceiling,
    encodeId('merchant', merchant.merchantId),
  );

const waitingIn = () => lines.map(({ waiting }) => waiting).filter((reason) => reason !== undefined);

test('J6: while the gas tank is empty nothing is reserved or signed; it goes on by itself once it is filled', async () => {
  const payout = await payoutTo(2);
  holds = FEE + 2n * OPENING - 1n;
  await runFor(payout);
  expect(await attemptsOf(service, payout)).toEqual([]);
  expect(await statusOf(payout)).toBe('processing');
  expect(waitingIn()).toEqual(['tank_low']);
  holds += 1n;
  await processOf(payout).finish('spl');
  expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
  await expectPaidOnce(service, [payout]);
});

test('what the tank can pay goes first, the rest when that is over: no more is on its way than it holds', async () => {
  const payout = await payoutTo(20);
  holds = FULL;
  const process = processOf(payout);
  const open: number[] = [];
  for (let run = 0; (await statusOf(payout)) !== 'completed' && run < 60; run++) {
    await process.step();
    const statuses = await attemptsOf(service, payout);
    open.push(statuses.filter((status) => ['reserved', 'signed', 'sent'].includes(status)).length);
    await payout.chain.mine(4);
  }
  expect(await attemptsOf(service, payout)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(Math.max(...open)).toBe(1);
  // It is not low: it only has to wait for what is on its way.
  expect(waitingIn()).toEqual([]);
  await expectPaidOnce(service, [payout]);
});

test('two workers of two merchants at once: together they put no more on its way than the tank holds', async () => {
  const payouts = [await payoutTo(16), await payoutTo(16)];
  holds = FULL;
  const workers = payouts.map((payout) => processOf(payout));
  const open: number[] = [];
  const statuses = async () => await Promise.all(payouts.map(statusOf));
  for (let run = 0; (await statuses()).some((one) => one !== 'completed') && run < 100; run++) {
    await Promise.all(workers.map((worker) => worker.step()));
    const [row] = await asOwner<{ count: number }>(
      service,
      "select count(*)::int from transfer_attempt where status in ('reserved', 'signed', 'sent')",
    );
    open.push(row?.count ?? 0);
    await Promise.all(payouts.map(({ chain }) => chain.mine(4)));
  }
  expect(await statuses()).toEqual(['completed', 'completed']);
  expect(Math.max(...open)).toBe(1);
  await expectPaidOnce(service, payouts);
});

test('a tank that is emptied between a reservation and its signature: nothing is signed that would expire', async () => {
  const payout = await payoutTo(3);
  const drained = new Process(service.app, payout.merchant.merchantId, {
    at: ({ name }) => {
      if (name === 'before build') holds = 0n;
    },
  });
  for (let run = 0; run < RUNS; run++) await drained.step();
  expect(await attemptsOf(service, payout)).toEqual(['reserved']);
  const signed = await asOwner(
    service,
    'select from transfer_attempt where group_id = $1 and raw is not null',
    [decodeId('payoutBatch', payout.batchId)],
  );
  expect(signed).toEqual([]);
  holds = FULL;
  await processOf(payout).finish('spl');
  expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
  await expectPaidOnce(service, [payout]);
});

test('what waited for people takes its share of the tank before it is signed: of two that are released at once one goes first', async () => {
  const payouts = [await payoutTo(8), await payoutTo(8)];
  for (const payout of payouts) {
    await payout.chain.holdSigning('approvals');
    const worker = processOf(payout);
    for (let run = 0; run < 3; run++) await worker.step();
    expect(await attemptsOf(service, payout)).toEqual(['reserved']);
  }
  for (const payout of payouts) await moveClock(service, payout, 2 * 3_600);
  holds = FULL;
  for (const { chain } of payouts) await chain.holdSigning(null);
  const workers = payouts.map((payout) => processOf(payout));
  for (let run = 0; run < 3; run++) await Promise.all(workers.map((worker) => worker.step()));
  const states = await Promise.all(payouts.map((payout) => attemptsOf(service, payout)));
  expect(states.flat().toSorted()).toEqual(['reserved', 'sent']);
  for (let run = 0; run < 4; run++) {
    await Promise.all(payouts.map(({ chain }) => chain.mine(4)));
    for (const worker of workers) await worker.stepAll(3);
  }
  expect(await Promise.all(payouts.map(statusOf))).toEqual(['completed', 'completed']);
  await expectPaidOnce(service, payouts);
});

test('accounts of new recipients cost no more in a day than the ceiling: the others wait, those who have one do not', async () => {
  const payout = await payoutTo(16);
  await ceilingOf(payout, '0.02');
  await runFor(payout, 4 * RUNS);
  expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
  expect(waitingIn()).toEqual(['opening_ceiling']);
  // Recipients who have an account cost nothing of it.
  const { merchant, chain } = payout;
  const known = await merchant.sdk.payouts.create({
    currency: 'USDT',
    items: [{ network: 'spl', address: chain.payerAddress('recipient 0'), amount: '0.50' }],
  });
  expect(await chain.balance(chain.payerAddress('recipient 0'), 'USDT', 'tip')).toBe(1_000_000n);
  await merchant.sdk.payouts.submit(known.batch_id);
  const second = { ...payout, batchId: known.batch_id };
  await runFor(second, 4 * RUNS);
  expect(await statusOf(second)).toBe('completed');
  await moveClock(service, payout, DAY + 60);
  await processOf(payout).finish('spl');
  expect(await attemptsOf(service, payout)).toEqual(['succeeded', 'succeeded']);
  await expectPaidOnce(service, [payout, second]);
});

test('while the token’s issuer has frozen the hot wallet payouts and charges wait, and nobody has failed', async () => {
  areFrozen = true;
  const payout = await payoutTo(1);
  const charge = await newCharge(service, 'spl');
  const charging = new Process(service.app, charge.merchant.merchantId);
  for (let hour = 0; hour < 3; hour++) {
    await runFor(payout);
    await charging.stepAll(2);
    await charge.chain.mine(4);
    for (const one of [payout, charge]) await moveClock(service, one, 3_600);
  }
  expect(await attemptsOf(service, payout)).toEqual([]);
  expect(await attemptsOfCharge(service, charge)).toEqual([]);
  expect(await statusOf(payout)).toBe('processing');
  expect(await paymentOf(service, charge)).toEqual({ status: 'processing', decline_code: null });
  expect(lines.map(({ waiting }) => waiting)).toContain('sender_blacklisted');
  areFrozen = false;
  await processOf(payout).finish('spl');
  await charging.finish('spl');
  await expectPaidOnce(service, [payout]);
  await expectPulledOnce(service, [charge]);
});

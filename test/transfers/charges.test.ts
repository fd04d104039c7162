import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import {
  AMOUNT,
  attemptsOf,
  type Charge,
  chargePayer,
  expectPulledOnce,
  newCharge,
  newPayer,
  paymentOf,
} from './charges.ts';
import { NETWORKS, statusOf, submitItems } from './payouts.ts';
import { GivenUp, giveUpAt, Process } from './process.ts';

/** Concurrent processes of the crash tests. */
const AT_ONCE = 8;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function inParallel<T>(count: number, work: (number: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 1; i <= count; i += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - i + 1) }, (_, j) => i + j);
    results.push(...(await Promise.all(numbers.map(work))));
  }
  return results;
}

const finish = ({ merchant, network }: Charge, deadOwners: readonly number[] = []) =>
  new Process(service.app, merchant.merchantId, { deadOwners }).finish(network);

const FAULT = { erc20: 'fault 4', trc20: 'fault 5', spl: 'fault 6' } as const;

describe.each(NETWORKS)('%s', (network) => {
  test(`J1: ${FAULT[network]}: a process that dies between any two steps pulls once`, async () => {
    const whole = await newCharge(service, network);
    const dry = new Process(service.app, whole.merchant.merchantId);
    await dry.finish(network);
    await expectPulledOnce(service, [whole]);
    expect(await paymentOf(service, whole)).toEqual({ status: 'completed', decline_code: null });
    for (const name of ['claim', 'step', 'build', 'broadcast', 'status', 'outcome']) {
      expect(dry.crossed).toContain(`before ${name}`);
      expect(dry.crossed).toContain(`after ${name}`);
    }
    const charges = await inParallel(dry.crossed.length, async (k) => {
      const charge = await newCharge(service, network);
      const process = new Process(service.app, charge.merchant.merchantId, { at: giveUpAt(k) });
      await expect(process.finish(network)).rejects.toThrow(GivenUp);
      await finish(charge, [process.owner]);
      return charge;
    });
    await expectPulledOnce(service, charges);
    const ends = await Promise.all(charges.map((charge) => paymentOf(service, charge)));
    expect(ends).toEqual(charges.map(() => ({ status: 'completed', decline_code: null })));
  }, 120_000);

  test(`J1: ${FAULT[network]}: processes that die again and again pull once`, async () => {
    const charges = await inParallel(scaled(200, 6), async (seed) => {
      const charge = await newCharge(service, network);
      const deadOwners: number[] = [];
      for (let life = 0; life < 5; life++) {
        const at = giveUpAt(1 + ((seed * 7 + life * 5) % 17));
        const process = new Process(service.app, charge.merchant.merchantId, { at, deadOwners });
        await process.finish(network).catch((error: unknown) => expect(error).toBeInstanceOf(GivenUp));
        deadOwners.push(process.owner);
      }
      await finish(charge, deadOwners);
      return charge;
    });
    await expectPulledOnce(service, charges);
  }, 120_000);

  test('J6: a charge that the payer cannot pay fails with the reason, once, and pulls nothing', async () => {
    const poor = await newCharge(service, network, { balance: AMOUNT - 1n });
    const shy = await newCharge(service, network, { allowance: AMOUNT - 1n });
    const over = await newCharge(service, network, { cap: AMOUNT - 1n });
    const gone = await newPayer(service, network);
    await gone.chain.revoke(mandateOf(gone), { final: true });
    const revoked = await chargePayer(service, gone);
    const exact = await newCharge(service, network, { balance: AMOUNT, allowance: AMOUNT, cap: AMOUNT });
    const charges = [poor, shy, over, revoked, exact];
    for (const charge of charges) await finish(charge);
    await expectPulledOnce(service, charges);
    const ends = await Promise.all(charges.map((charge) => paymentOf(service, charge)));
    // Other networks have no contract that enforces the cap: `subscriptions` checks it before it orders.
    const hasCollector = network === 'erc20';
    expect(ends.map((end) => end?.decline_code)).toEqual([
      'insufficient_balance',
      'insufficient_allowance',
      hasCollector ? 'cap_exceeded' : null,
      network === 'spl' ? 'insufficient_allowance' : 'mandate_revoked',
      null,
    ]);
    for (const charge of [poor, shy, revoked]) expect(await attemptsOf(service, charge)).toEqual(['failed']);
  });

  test('a charge needs no coins of ours, and its coins can be paid out', async () => {
    const payer = await newPayer(service, network);
    const charges = [await chargePayer(service, payer), await chargePayer(service, payer, 1n)];
    await Promise.all(charges.map((charge) => finish(charge)));
    await expectPulledOnce(service, charges);
    const { data } = await payer.merchant.sdk.balances.retrieve();
    const usdt = data.find(({ currency }) => currency === 'USDT');
    const units = Number(AMOUNT + 1n);
    expect(usdt).toMatchObject({ available: units, custody: { [network]: units } });
    const items = [{ to: 'succeed', amount: '10.00' }] as const;
    const payout = await submitItems(service, payer.merchant, { network, items });
    await new Process(service.app, payer.merchant.merchantId).finish(network);
    expect(await statusOf(payout)).toBe('completed');
  });

  test.each([1, 2])(
    'J5: fault 50: %i blocks with a charge are replaced: pulled and booked once',
    async (depth) => {
      const charge = await newCharge(service, network);
      const process = new Process(service.app, charge.merchant.merchantId);
      while ((await process.step()) !== 'transfers.send');
      await charge.chain.mine(depth);
      const pulled = async () =>
        (await charge.chain.transfers({ address: charge.wallet.owner })).data.filter(
          ({ from }) => from === charge.wallet.owner,
        );
      const [first] = await pulled();
      expect(first?.amount).toBe(AMOUNT);
      await charge.chain.reorgFrom(first?.height ?? 0n);
      await process.finish(network);
      await expectPulledOnce(service, [charge]);
      expect(await attemptsOf(service, charge)).toEqual(['succeeded']);
    },
  );

  test('J2: fault 41 to 44: whatever the node answers to the broadcast, it is pulled once', async () => {
    const faults = ['drop', 'accept_then_timeout', 'timeout_dropped', 'say_expired', 'garbage'] as const;
    const charges = await inParallel(faults.length, async (number) => {
      const charge = await newCharge(service, network);
      const fault = faults[number - 1];
      if (fault !== undefined) await charge.chain.injectFaults(fault);
      await finish(charge);
      return charge;
    });
    await expectPulledOnce(service, charges);
    const ends = await Promise.all(charges.map((charge) => paymentOf(service, charge)));
    expect(ends.map((end) => end?.status)).toEqual(faults.map(() => 'completed'));
  });

  test('J2: fault 46: a charge waits while the network is away, and is pulled after', async () => {
    const charge = await newCharge(service, network);
    await charge.chain.outage(86_400);
    const process = new Process(service.app, charge.merchant.merchantId);
    for (let run = 0; run < 3; run++) await process.step();
    expect(await attemptsOf(service, charge)).toEqual([]);
    await charge.chain.outage(0);
    await process.finish(network);
    await expectPulledOnce(service, [charge]);
  });
});

function mandateOf({ method, wallet }: Awaited<ReturnType<typeof newPayer>>) {
  return {
    mandateId: method.mandate_id,
    payer: wallet.owner,
    asset: wallet.asset,
    recipient: method.recipient,
    cap: method.cap_amount,
    period: method.interval,
    startsAt: Number(method.starts_at),
    endsAt: null,
    salt: method.salt,
  };
}

test('I1: afterwards ledger and chains agree', { timeout: 150_000 }, () => expectLedgerWhole(service));

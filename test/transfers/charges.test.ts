import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokePaymentMethod } from '../../packages/server/src/payment-methods/mandates/revoke-payment-method.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled, share } from '../scale.ts';
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
import { moveClock, NETWORKS, statusOf, submitItems } from './payouts.ts';
import { GivenUp, giveUpAt, inParallel, Process, upTo } from './process.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

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
    const places = share(dry.places, NETWORKS.indexOf(network), NETWORKS.length);
    const charges = await inParallel(places, async (k) => {
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
    const charges = await inParallel(upTo(scaled(200, 6)), async (seed) => {
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
    // On spl no contract enforces the cap: `subscriptions` checks it before it orders.
    const hasCollector = network !== 'spl';
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
    const charges = await inParallel(faults, async (fault) => {
      const charge = await newCharge(service, network);
      await charge.chain.injectFaults(fault);
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

test.each(['trc20', 'spl'] as const)(
  'J3: %s: a charge that the signer holds gives way, and ends with its mandate or its merchant',
  async (network) => {
    const held = async () => {
      const charge = await newCharge(service, network);
      await charge.chain.holdSigning('limit');
      const process = new Process(service.app, charge.merchant.merchantId);
      for (let run = 0; run < 4; run++) await process.step();
      expect(await attemptsOf(service, charge)).toEqual(['failed']);
      return { charge, process };
    };
    const [revoked, suspended, later] = [await held(), await held(), await held()];
    const { merchantId } = revoked.charge.merchant;
    const methodId = encodeId('paymentMethod', revoked.charge.method.payment_method_id);
    await revokePaymentMethod(service.app, await getMerchant(service.app.db, merchantId), methodId);
    await asOwner(
      service,
      `update merchant set status = 'suspended', suspended_at = extract(epoch from now())::bigint
       where merchant_id = $1`,
      [suspended.charge.merchant.merchantId],
    );
    for (const { charge, process } of [revoked, suspended]) {
      await process.finish(network);
      const code = charge === revoked.charge ? 'mandate_revoked' : 'network_unavailable';
      expect(await paymentOf(service, charge)).toEqual({ status: 'failed', decline_code: code });
      expect(await attemptsOf(service, charge)).toEqual(['failed']);
    }
    // Nobody has acted: it is not asked for again, and then it is signed.
    for (let run = 0; run < 4; run++) await later.process.step();
    expect(await attemptsOf(service, later.charge)).toEqual(['failed']);
    await later.charge.chain.holdSigning(null);
    await moveClock(service, later.charge, 61);
    await later.process.finish(network);
    expect(await attemptsOf(service, later.charge)).toEqual(['succeeded']);
    await expectPulledOnce(service, [revoked.charge, suspended.charge, later.charge]);
  },
);

/** Charges of one merchant, of so many payers. */
async function newCharges(network: Charge['network'], count: number): Promise<[Charge, ...Charge[]]> {
  const first = await newCharge(service, network);
  const { merchant } = first;
  const others: Charge[] = [];
  for (let i = 1; i < count; i++)
    others.push(await chargePayer(service, await newPayer(service, network, { merchant })));
  return [first, ...others];
}

const AT_A_TIME = 50;
const HOUR_SECONDS = 3_601;

test.each(['trc20', 'spl'] as const)(
  'J3: %s: charges that are held for a day take one number of their wallet each, and then all go on at once',
  async (network) => {
    const charges = await newCharges(network, 4);
    const [first] = charges;
    const { merchantId } = first.merchant;
    const process = new Process(service.app, merchantId);
    const numbers = async () =>
      await asOwner<{ taken: number; tries: number }>(
        service,
        `select next_ordinal::int as taken, (select min(tries) from transfer where merchant_id = $1)::int as tries
         from wallet where sender = $2 and network = $3`,
        [merchantId, first.method.recipient, network],
      );
    await first.chain.holdSigning('limit');
    for (let hour = 0; hour < 24; hour++) {
      await process.stepAll(AT_A_TIME);
      await moveClock(service, first, HOUR_SECONDS);
    }
    expect(await numbers()).toEqual([{ taken: charges.length, tries: 24 }]);
    for (const charge of charges) expect(await attemptsOf(service, charge)).toEqual(['failed']);
    // The hold of one is over, the others would wait for days.
    await asOwner(
      service,
      'update transfer_hold set until = until + 1000000 where merchant_id = $1 and group_id <> $2',
      [merchantId, first.paymentId],
    );
    await first.chain.holdSigning(null);
    for (let round = 0; round < 4; round++) {
      await process.stepAll(AT_A_TIME);
      await first.chain.mine(4);
    }
    await process.finish(network);
    for (const charge of charges) expect(await attemptsOf(service, charge)).toEqual(['succeeded']);
    expect(await numbers()).toMatchObject([{ taken: charges.length }]);
    await expectPulledOnce(service, charges);
  },
);

test('J1: a process that dies anywhere while a charge takes up its attempt again pulls once', async () => {
  const held = async () => {
    const charge = await newCharge(service, 'trc20');
    await charge.chain.holdSigning('limit');
    await new Process(service.app, charge.merchant.merchantId).step();
    expect(await attemptsOf(service, charge)).toEqual(['failed']);
    await charge.chain.holdSigning(null);
    await moveClock(service, charge, 61);
    return charge;
  };
  const whole = await held();
  const dry = new Process(service.app, whole.merchant.merchantId);
  await dry.finish('trc20');
  // After one step is before the next one.
  const charges = await inParallel(upTo(Math.floor(dry.crossed.length / 2)), async (k) => {
    const charge = await held();
    const process = new Process(service.app, charge.merchant.merchantId, { at: giveUpAt(2 * k) });
    await expect(process.finish('trc20')).rejects.toThrow(GivenUp);
    await finish(charge, [process.owner]);
    return charge;
  });
  for (const charge of charges) expect(await attemptsOf(service, charge)).toEqual(['succeeded']);
  await expectPulledOnce(service, [whole, ...charges]);
}, 120_000);

test('a charge takes up no attempt of another history of the database', async () => {
  const charge = await newCharge(service, 'trc20');
  const { merchantId } = charge.merchant;
  const process = new Process(service.app, merchantId);
  await charge.chain.holdSigning('limit');
  await process.step();
  await asOwner(
    service,
    'update wallet set first_ordinal = next_ordinal, last_attempt_id = null where sender = $1',
    [charge.method.recipient],
  );
  await charge.chain.holdSigning(null);
  await moveClock(service, charge, 61);
  await process.finish('trc20');
  expect(await attemptsOf(service, charge)).toEqual(['failed', 'succeeded']);
  await expectPulledOnce(service, [charge]);
});

test.each(NETWORKS)(
  'J3: %s: a charge whose mandate was given to another collector waits, and fails nobody',
  async (network) => {
    const charge = await newCharge(service, network);
    const { merchantId } = charge.merchant;
    const name = (mandateId: string) =>
      asOwner(
        service,
        `update transfer set charge = jsonb_set(charge, '{mandate,mandateId}', to_jsonb($2::text)) where merchant_id = $1`,
        [merchantId, mandateId],
      );
    await name('of the collector of before');
    const process = new Process(service.app, merchantId);
    for (let run = 0; run < 5; run++) await process.step();
    expect((await paymentOf(service, charge))?.status).toBe('processing');
    expect(await attemptsOf(service, charge)).toEqual([network === 'erc20' ? 'reserved' : 'failed']);
    await name(charge.method.mandate_id);
    await moveClock(service, charge, 61);
    await process.finish(network);
    expect((await paymentOf(service, charge))?.status).toBe('completed');
    await expectPulledOnce(service, [charge]);
  },
);

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

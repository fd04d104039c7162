import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import {
  AMOUNT,
  attemptsOf,
  type Charge,
  chargePayer,
  expectPulledOnce,
  newPayer,
  paymentOf,
} from './charges.ts';
import { GivenUp, giveUpAt, inParallel, Process, type ProcessOptions } from './process.ts';

const TOGETHER = 3;
const JOBS_MAX = 50;
/** Concurrent processes. */
/** Every place where the rules are hardest, some of the same places elsewhere. */
const EVERY = { erc20: scaled(1, 3), trc20: 5, spl: 7 };
/** More than a block needs to become final, so that no tick of the clock changes the number of polls. */
const FINAL_BLOCKS = 4;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Charges of one merchant's payers, due together; the last one's payer cannot pay. */
async function newCharges(network: Network): Promise<Charge[]> {
  const merchant = await service.createMerchant({ funds: 0n });
  const charges: Charge[] = [];
  for (let i = 1; i <= TOGETHER; i++) {
    const balance = i === TOGETHER ? AMOUNT - 1n : AMOUNT;
    charges.push(await chargePayer(service, await newPayer(service, network, { merchant, balance })));
  }
  return charges;
}

function processOf([charge]: readonly Charge[], options?: ProcessOptions): Process {
  if (charge === undefined) throw new Error('no charges');
  return new Process(service.app, charge.merchant.merchantId, options);
}

/** Runs until nothing is left to do; after each round the sent transactions become final. */
async function finish(charges: readonly Charge[], process: Process): Promise<void> {
  while ((await process.stepAll(JOBS_MAX)).length > 0) await charges[0]?.chain.mine(FINAL_BLOCKS);
}

const statusesOf = (charges: readonly Charge[]) =>
  Promise.all(charges.map(async (charge) => (await paymentOf(service, charge))?.status));
const ALL_BUT_THE_LAST = [...Array<string>(TOGETHER - 1).fill('completed'), 'failed'];

describe.each(NETWORKS)('%s', (network) => {
  test('J1: charges of one batch whose process dies between any two steps are each pulled once', async () => {
    const whole = await newCharges(network);
    const dry = processOf(whole);
    await finish(whole, dry);
    await expectPulledOnce(service, whole);
    expect(await statusesOf(whole)).toEqual(ALL_BUT_THE_LAST);
    // Together: reserved, signed, marked as sent and decided in one transaction each, then booked one by one.
    expect(dry.crossed.filter((name) => name === 'before step')).toHaveLength(4 + TOGETHER);
    const places = dry.places.filter((k) => k % EVERY[network] === 0);
    await inParallel(places, async (k) => {
      const charges = await newCharges(network);
      const process = processOf(charges, { at: giveUpAt(k) });
      await expect(finish(charges, process)).rejects.toThrow(GivenUp);
      await finish(charges, processOf(charges, { deadOwners: [process.owner] }));
      await expectPulledOnce(service, charges);
      expect(await statusesOf(charges)).toEqual(ALL_BUT_THE_LAST);
    });
  }, 120_000);
});

test('a charge that another process has taken over does not block the others of its batch', async () => {
  const charges = await newCharges('erc20');
  const robbers: Process[] = [];
  const owner: { number?: number } = {};
  const process = processOf(charges, {
    at: async ({ name }) => {
      if (name !== 'before step' || robbers.length > 0 || owner.number === undefined) return;
      const robber = processOf(charges, { deadOwners: [owner.number] });
      robbers.push(robber);
      await robber.step();
    },
  });
  owner.number = process.owner;
  await expect(process.stepAll(JOBS_MAX)).rejects.toThrow(/taken over|aborted/);
  expect(await Promise.all(charges.map((charge) => attemptsOf(service, charge)))).toEqual(
    charges.map(() => ['sent']),
  );
  await charges[0]?.chain.mine(FINAL_BLOCKS);
  await finish(
    charges,
    processOf(charges, { deadOwners: [process.owner, ...robbers.map((one) => one.owner)] }),
  );
  await expectPulledOnce(service, charges);
  expect(await statusesOf(charges)).toEqual(ALL_BUT_THE_LAST);
});

test('a charge that cannot be read fails alone', async () => {
  const charges = await newCharges('erc20');
  const [broken, ...others] = charges;
  if (broken === undefined) throw new Error('no charges');
  const write = (cap: string) =>
    asOwner(
      service,
      `update transfer set charge = jsonb_set(charge, '{mandate,cap}', to_jsonb($3::text))
       where merchant_id = $1 and group_id = $2`,
      [broken.merchant.merchantId, broken.paymentId, cap],
    );
  await write('no number');
  const process = processOf(charges);
  await expect(process.stepAll(JOBS_MAX)).rejects.toThrow('BigInt');
  expect(await attemptsOf(service, broken)).toEqual(['reserved']);
  for (const charge of others) expect(await attemptsOf(service, charge)).toEqual(['sent']);
  await write(String(broken.method.cap_amount));
  await finish(charges, processOf(charges, { deadOwners: [process.owner] }));
  await expectPulledOnce(service, charges);
  expect(await statusesOf(charges)).toEqual(ALL_BUT_THE_LAST);
});

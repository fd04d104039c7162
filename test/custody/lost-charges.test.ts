import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { AMOUNT, type Charge, newCharge, paymentOf } from '../transfers/charges.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce, operatorsOf } from './audits.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** A charge that is credited, in a block that lies well above the payer's mandate. */
async function credited(network: Network): Promise<Charge> {
  const charge = await newCharge(service, network);
  await charge.chain.mine(60);
  await new Process(service.app, charge.merchant.merchantId).finish(network);
  expect(await paymentOf(service, charge)).toMatchObject({ status: 'completed' });
  return charge;
}

/** Takes the block of the charge and all above it; what payers said below stays. */
async function takeAway({ chain, wallet }: Charge): Promise<void> {
  const { data } = await chain.transfers({ address: wallet.owner });
  const pulled = data.find(({ from }) => from === wallet.owner);
  await chain.reorgFrom(pulled?.height ?? 0n);
}

const LOST = (network: Network) => ({ [`reorg_loss:${network}`]: AMOUNT, [`float:${network}`]: -AMOUNT });

describe.each(NETWORKS)('%s', (network) => {
  const audit = ({ merchant }: Charge) => auditOnce(service, merchant.merchantId, network);
  const operators = ({ merchant }: Charge) => operatorsOf(service, merchant.merchantId);
  const stops = async ({ merchant }: Charge) =>
    (await networkCommands(service.app).list()).filter(
      (line) => line.merchant_id === encodeId('merchant', merchant.merchantId),
    );

  test('fault 49: a final charge that is gone stays the merchant’s; mined again the loss is booked back', async () => {
    const charge = await credited(network);
    const before = await charge.merchant.sdk.balances.retrieve();
    await takeAway(charge);
    await audit(charge);
    expect(await operators(charge)).toEqual(LOST(network));
    expect(await stops(charge)).toMatchObject([{ network, status: 'stopped' }]);
    expect(await charge.merchant.sdk.balances.retrieve()).toEqual(before);
    expect(await paymentOf(service, charge)).toMatchObject({ status: 'completed' });
    await expectLedgerWhole(service);
    // The audit has sent the same bytes again.
    await charge.chain.mine(4);
    await Promise.all([audit(charge), audit(charge)]);
    expect(await operators(charge)).toEqual({});
    expect(await charge.merchant.sdk.balances.retrieve()).toEqual(before);
    await audit(charge);
    expect(await operators(charge)).toEqual({});
  });

  test('fault 49: coins that the payer no longer has are the operator’s loss', async () => {
    const charge = await credited(network);
    await takeAway(charge);
    await charge.chain.hold(charge.wallet, 0n, { final: true });
    await Promise.all([audit(charge), audit(charge)]);
    await charge.chain.mine(4);
    await audit(charge);
    await audit(charge);
    expect(await operators(charge)).toEqual(LOST(network));
    expect(await charge.chain.balance(charge.wallet.owner, 'USDT', 'tip')).toBe(0n);
  });
});

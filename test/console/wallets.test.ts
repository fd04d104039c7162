import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { methodCalls, newMethod, TOKENS } from '../payment-methods/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { signIn } from './people.ts';

const needs = new Map<string, bigint>();
let service: TestService;

beforeAll(async () => {
  service = await startService();
  // The tests say what each payment method has to pay next; no subscription is billed.
  service.app.chargeNeeds = async () => needs;
  await service.startWorker();
});
afterAll(() => service.stop());

const pathOf = ({ merchantId, storeId }: Pick<TestMerchant, 'merchantId' | 'storeId'>, method: string) =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}/payment-methods/${method}/wallet`;

test('what falls due next is compared with what the wallet holds and allows, as it was read last', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const viewer = await signIn(service, merchant, 'viewer');
  const balance = BigInt(20 * TOKENS);
  const { method } = await newMethod(service, merchant, { network: 'erc20', cap: balance / 2n, balance });
  const id = encodeId('paymentMethod', method.payment_method_id);
  const wallet = async () => (await viewer.call(pathOf(merchant, id))).body;
  const due = async (units: bigint) => {
    needs.set(method.payment_method_id, units);
    return await wallet();
  };
  expect(await wallet()).toEqual({
    balance: 20 * TOKENS,
    allowance: Number.MAX_SAFE_INTEGER,
    cap: 10 * TOKENS,
    due: null,
    problem: null,
    read_at: expect.any(Number),
  });
  expect(await due(balance / 2n)).toMatchObject({ due: 10 * TOKENS, problem: null });
  expect(await due(balance / 2n + 1n)).toMatchObject({ problem: 'above_cap' });
  expect(await due(balance + 1n)).toMatchObject({ problem: 'insufficient_balance' });
  await methodCalls(service, merchant).revoke(id);
  expect(await wallet()).toMatchObject({ problem: 'mandate_revoked' });

  const sister = await service.addStore(merchant);
  const stranger = await service.createMerchant({ funds: 0n });
  for (const path of [pathOf(sister, id), pathOf(merchant, `${id}x`)])
    expect((await viewer.call(path)).status, path).toBe(404);
  expect((await viewer.call(pathOf(stranger, id))).status).toBe(403);
});

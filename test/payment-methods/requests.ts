import { randomUUID } from 'node:crypto';
import type { Asset, Network } from '@florin/contract/money';
import type { PaymentMethod, PaymentMethodChangeInput } from '@florin/contract/schemas';
import type { SimulatedChain } from '../../packages/server/src/chains/index.ts';
import type { Mandate } from '../../packages/server/src/chains/port/index.ts';
import { confirmInSandbox, saveMandate } from '../../packages/server/src/payment-methods/mandates/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { merchantTime } from '../../packages/server/src/tenancy/merchant-time.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { caller, ok } from '../payouts/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';

export const TOKENS = 1_000_000;

/** Calls of one merchant around payment methods, each expected to be answered 200. */
export function methodCalls(service: TestService, merchant: TestMerchant) {
  const calls = caller(service, merchant);
  return {
    ...calls,
    read: (id: string) => ok<PaymentMethod>(calls.call(`/payment_method/${id}`)),
    list: (query = '') =>
      ok<{ data: PaymentMethod[]; has_more: boolean; url: string }>(calls.call(`/payment_methods${query}`)),
    update: (id: string, body: object) =>
      ok<PaymentMethod>(calls.post(`/payment_methods/${id}/update`, body)),
    revoke: (id: string) => ok<PaymentMethod>(calls.post(`/payment_methods/${id}/revoke`)),
    change: (id: string, body: PaymentMethodChangeInput) =>
      ok<PaymentMethod>(calls.post(`/test_helpers/payment_methods/${id}`, body)),
    /** Events of a payment method, oldest first. */
    events: async (id: string) => {
      const { data } = await ok<{ data: MethodEvent[] }>(
        calls.call(`/events?type=payment_method.updated&resource=${id}&limit=100`),
      );
      return data.toReversed();
    },
  };
}

interface MethodEvent {
  type: string;
  sequence: number;
  data: { object: PaymentMethod; previous_attributes: Record<string, unknown> | null };
}

/** As of the sandbox's wallets. */
const UNLIMITED = 2n ** 63n - 1n;

export interface NewMethod {
  network?: Network;
  currency?: Asset;
  /** `cus_…`; a new customer by default. */
  customer?: string;
  cap?: bigint;
  balance?: bigint;
}

/** A payment method as it is made when a payer gives a mandate: on the chain first, then here. */
export async function newMethod(
  service: TestService,
  merchant: TestMerchant,
  { network = 'erc20', currency = 'USDT', customer, cap = 1_000n, balance }: NewMethod = {},
) {
  const { app } = service;
  const { merchantId, storeId } = merchant;
  const own =
    customer ??
    (await merchant.sdk.customers.create({ external_customer_id: `customer-${randomUUID()}` })).id;
  const customerId = decodeId('customer', own);
  if (customerId === undefined) throw new Error(`${own} is no customer`);
  const row = await getMerchant(app.db, merchantId);
  const time = merchantTime(app, row);
  const chain: SimulatedChain = app.chains.sandbox(merchantId, network);
  const setup = await chain.mandateSetup({
    asset: currency,
    payer: chain.payerAddress(randomUUID()),
    cap,
    period: 'month',
    startsAt: time.seconds,
    endsAt: null,
    salt: randomUUID(),
    allowance: UNLIMITED,
    ...(chain.capabilities.windowCap && { subscriptions: 1_000 }),
  });
  const mandate: Mandate = setup.mandate;
  const reading = await confirmInSandbox(app, row, { network, setup, balance });
  const given = { merchantId, storeId, customerId, network, mandate, reading };
  const method = await transact(app.db, (tx) => saveMandate(tx, given, time));
  return { method, customer: own, chain, mandate, given };
}

import type { Insertable } from 'kysely';
import { ensureCustomer } from '../../packages/server/src/customers/index.ts';
import type { Tables } from '../../packages/server/src/platform/db/db.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import type { TestMerchant, TestService } from '../service.ts';

type Subscription = Insertable<Tables['subscription']>;
type Invoice = Insertable<Tables['invoice']>;

const NOW = 1_790_000_000;
const MONTH = 2_592_000;

/** A customer's UUID, made if new. */
async function customerOf({ app }: TestService, merchantId: string, externalId: string): Promise<string> {
  await transact(app.db, (tx) => ensureCustomer(tx, { merchantId, externalId, nowSeconds: NOW }));
  const row = await app.db
    .selectFrom('customer')
    .select('customer_id')
    .where('merchant_id', '=', merchantId)
    .where('external_customer_id', '=', externalId)
    .executeTakeFirstOrThrow();
  return row.customer_id;
}

/** A subscription straight into its table: a reader asks for nothing but rows. */
export async function addSubscription(
  service: TestService,
  { merchantId, storeId }: Pick<TestMerchant, 'merchantId' | 'storeId'>,
  given: Partial<Subscription> = {},
) {
  const customer = given.customer ?? 'customer-1';
  const item = { id: newId(), product: 'Gold', unit_amount: '1999', quantity: 2, metadata: {} };
  const row: Subscription = {
    merchant_id: merchantId,
    subscription_id: newId(),
    store_id: storeId,
    customer_id: await customerOf(service, merchantId, customer),
    customer,
    currency: 'USD',
    status: 'active',
    items: JSON.stringify([item]),
    amount: 3_998n,
    interval: 'month',
    billing_cycle_anchor: NOW,
    current_period_start: NOW,
    current_period_end: NOW + MONTH,
    page_token: 'unused',
    created_at: NOW,
    ...given,
  };
  await service.app.db.insertInto('subscription').values(row).execute();
  return { row, item, id: encodeId('subscription', row.subscription_id) };
}

/** An open invoice of a subscription's row. */
export async function addInvoice(service: TestService, of: Subscription, given: Partial<Invoice> = {}) {
  const start = Number(given.period_start ?? NOW);
  const row: Invoice = {
    merchant_id: of.merchant_id,
    invoice_id: newId(),
    store_id: of.store_id,
    subscription_id: of.subscription_id,
    customer_id: of.customer_id,
    customer: of.customer,
    amount_due: of.amount,
    currency: of.currency,
    status: 'open',
    payment_status: 'pending',
    billing_reason: 'subscription_cycle',
    interval: of.interval,
    period_start: start,
    period_end: start + MONTH,
    due_date: start,
    created_at: start,
    ...given,
  };
  await service.app.db.insertInto('invoice').values(row).execute();
  return { row, id: encodeId('invoice', row.invoice_id) };
}

type PaymentMethod = Insertable<Tables['payment_method']>;

/** An active payment method of a subscription's customer. */
export async function addPaymentMethod(
  service: TestService,
  of: Pick<Subscription, 'merchant_id' | 'store_id' | 'customer_id'>,
  given: Partial<PaymentMethod> = {},
) {
  const paymentMethodId = newId();
  const row: PaymentMethod = {
    merchant_id: of.merchant_id,
    payment_method_id: paymentMethodId,
    store_id: of.store_id,
    customer_id: of.customer_id,
    currency: 'USDT',
    network: 'trc20',
    wallet_address: 'a wallet',
    recipient: 'ours',
    mandate_id: `mandate ${paymentMethodId}`,
    salt: 'salt',
    cap_amount: 1n,
    subscriptions: null,
    interval: 'month',
    starts_at: NOW,
    ends_at: null,
    status: 'active',
    balance: 0n,
    allowance: 0n,
    read_at: NOW,
    next_read_at: given.status === 'revoked' ? null : NOW,
    created_at: NOW,
    ...given,
  };
  await service.app.db.insertInto('payment_method').values(row).execute();
  return { row, id: encodeId('paymentMethod', paymentMethodId) };
}

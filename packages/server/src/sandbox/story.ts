import { createHmac, randomUUID } from 'node:crypto';
import {
  IDEMPOTENCY_KEY_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  signedPrefix,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import type { SandboxCredentials } from './seed.ts';

interface Sent {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  payload: string;
}

interface StoryOptions {
  credentials: SandboxCredentials;
  /** Answers a request without the network. */
  inject: (request: Sent) => Promise<{ statusCode: number; body: string }>;
  nowSeconds: () => number;
  /** Keeps until when what happens is of the story, in Unix seconds. */
  noteUntil: (seconds: number) => Promise<void>;
  /** Whether the sandbox ends: the story is not gone on with. */
  isStopped: () => boolean;
}

type Answer = Record<string, unknown> & { data?: Record<string, unknown>[] };
type Call = (method: 'GET' | 'POST', path: string, body?: object, key?: string) => Promise<Answer>;

const PAID_IN = { currency: 'USDT', network: 'erc20' };
const FINAL_BLOCKS = 3;
const CUSTOMERS = [
  { external_customer_id: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { external_customer_id: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
  { external_customer_id: 'emmy', name: 'Emmy Noether', email: 'emmy@example.com' },
];
/** Refuses every delivery for good, and is disabled once it has refused one. */
const REFUSING = 'https://webhooks.test/410';
const DELIVERY_WAIT_MS = 5_000;
const POLL_MS = 50;

/** More than it takes: what happens after that is of people, also where it was cut off. */
const STORY_SECONDS = 60;

class Stopped extends Error {}

/** Keeps until when what happens to a merchant is of its story: the first steps that the console shows are those of people. */
export async function noteStoryUntil(db: Db, merchantId: string, seconds: number): Promise<void> {
  await sql`
    insert into setting (merchant_id, name, value)
    values (${merchantId}, 'sandbox.story_until', ${JSON.stringify(seconds)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** Signs requests as a merchant's server does. */
function signer({ credentials, inject, nowSeconds, isStopped }: StoryOptions): Call {
  return async (method, path, body, key) => {
    if (isStopped()) throw new Stopped('the sandbox ends');
    const payload = body === undefined ? '' : JSON.stringify(body);
    const [timestamp, nonce] = [String(nowSeconds()), randomUUID()];
    const signature = createHmac('sha256', credentials.secret_key)
      .update(signedPrefix(timestamp, nonce))
      .update(payload)
      .digest('hex');
    const headers = {
      authorization: `Bearer ${credentials.api_key}`,
      [TIMESTAMP_HEADER]: timestamp,
      [NONCE_HEADER]: nonce,
      [SIGNATURE_HEADER]: signature,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { [IDEMPOTENCY_KEY_HEADER]: `florin-story-${key}` }),
    };
    const answer = await inject({ method, url: `/api/v1${path}`, headers, payload });
    if (answer.statusCode >= 400)
      throw new Error(`${method} ${path} answers ${answer.statusCode}: ${answer.body}`);
    return JSON.parse(answer.body);
  };
}

async function makeCustomers(call: Call): Promise<void> {
  for (const customer of CUSTOMERS) {
    const known = await call('GET', `/customers?external_customer_id=${customer.external_customer_id}`);
    if (known.data?.length === 0) await call('POST', '/customers/create', customer);
  }
}

/** The endpoint that refuses: made before the subscription of which it hears once. */
async function makeEndpoint(call: Call): Promise<string> {
  const types = ['subscription.created'];
  // Somebody who tries the documentation's examples may have one of the same address.
  const known = (await call('GET', '/webhook_endpoints?limit=100')).data?.find(
    (one) => one.url === REFUSING && String(one.types) === String(types),
  );
  const endpoint = known ?? (await call('POST', '/webhook_endpoints', { url: REFUSING, types }));
  return String(endpoint.id);
}

/** A payment to which something was sent once, however often this runs. */
async function makePayment(call: Call, key: string, body: object, sent?: number) {
  const session = await call('POST', '/checkout/sessions/create', { ...body, expires_in: 86_400 }, key);
  const payment = await call('GET', `/payment/${String(session.payment_id)}`);
  if (Array.isArray(payment.transactions) && payment.transactions.length > 0) return;
  const amount = sent === undefined ? {} : { amount: sent };
  await call('POST', `/test_helpers/checkout/sessions/${String(session.id)}/pay`, { ...PAID_IN, ...amount });
}

/** One begun by a mandate, and two more seats one after another: each is charged at once. */
async function makeSubscription(call: Call): Promise<void> {
  const price_data = {
    product: 'Seat',
    unit_amount: 1_200,
    currency: 'USD',
    recurring: { interval: 'month' },
  };
  const body = {
    customer: 'emmy',
    customer_email: 'emmy@example.com',
    currency: 'USD',
    description: 'Team plan',
    items: [{ price_data }],
  };
  const { id, status } = await call('POST', '/subscriptions/create', body, 'subscription');
  const path = `/subscriptions/${String(id)}`;
  if (status === 'incomplete') await call('POST', `/test_helpers${path}/authorize`, PAID_IN);
  for (const quantity of [2, 3]) {
    const { data = [] } = await call('GET', `/invoices?subscription=${String(id)}`);
    if (data.length >= quantity) continue;
    await call('POST', `${path}/update`, { items: [{ price_data, quantity }] });
    await call('POST', '/test_helpers/chains/erc20', { mine: FINAL_BLOCKS });
  }
}

/** Above what goes out without an approval. */
async function makePayouts(call: Call): Promise<void> {
  const { erc20 } = await call('GET', '/test_helpers/addresses');
  const address: unknown = Reflect.get(Object(erc20), 'succeed');
  const items = ['7000.00', '5500.00'].map((amount, at) => ({
    network: 'erc20',
    address,
    amount,
    real_name: CUSTOMERS[at]?.name,
  }));
  const body = { currency: 'USDT', description: 'Salaries', items };
  const { batch_id, status } = await call('POST', '/payout-batches', body, 'payouts');
  if (status === 'draft') await call('POST', `/payout-batches/${String(batch_id)}/submit`);
}

/** Waits for the refusal of the endpoint, and disables it: what somebody does next is not delivered there. */
async function endDeliveries(call: Call, endpoint: string): Promise<void> {
  const endsAt = performance.now() + DELIVERY_WAIT_MS;
  while (performance.now() < endsAt) {
    const { data } = await call('GET', `/deliveries?endpoint_id=${endpoint}&status=failed`);
    if (data?.length !== 0) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await call('POST', `/webhook_endpoints/${endpoint}/update`, { status: 'disabled' });
}

/**
 * Fills a fresh sandbox by calls of its API: customers, a paid and an underpaid payment, a subscription with three invoices,
 * payouts that wait for approval, and a delivery that failed. Each step has an idempotency key or looks first, so that what a
 * crash has cut off is gone on with. The clock stays where it is.
 *
 * @returns whether it is whole; false where the sandbox ended meanwhile
 */
export async function tellStory(options: StoryOptions): Promise<boolean> {
  const call = signer(options);
  try {
    // Refused with real money: nothing of it is made then.
    await call('GET', '/test_helpers/clock');
    await options.noteUntil(options.nowSeconds() + STORY_SECONDS);
    await makeCustomers(call);
    const endpoint = await makeEndpoint(call);
    await makePayment(call, 'paid', {
      amount: 4_990,
      currency: 'USD',
      order_id: 'order-1001',
      description: 'A keyboard',
      customer: 'ada',
      customer_email: 'ada@example.com',
    });
    const short = {
      amount: 2_500,
      currency: 'USD',
      order_id: 'order-1002',
      description: 'A mouse',
      customer: 'grace',
      customer_email: 'grace@example.com',
    };
    await makePayment(call, 'underpaid', short, 20_000_000);
    await makeSubscription(call);
    await makePayouts(call);
    await endDeliveries(call, endpoint);
    await options.noteUntil(options.nowSeconds());
    return true;
  } catch (error) {
    if (error instanceof Stopped) return false;
    throw error;
  }
}

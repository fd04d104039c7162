import { randomUUID } from 'node:crypto';
import { type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { PayoutBatch, PayoutBatchInput, PayoutItem } from '@florin/contract/schemas';
import { expect } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { PAYOUT_SETTINGS } from '../../packages/server/src/payouts/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { type Answer, type SignedOptions, send } from '../signed-request.ts';

/** Recipients that make a payout succeed, fail, hang or be listed. */
export const TO = Object.fromEntries(NETWORKS.map((n) => [n, testAddresses(n)])) as Record<
  Network,
  ReturnType<typeof testAddresses>
>;

export interface BatchOptions {
  network?: Network;
  currency?: Asset;
  to?: keyof ReturnType<typeof testAddresses>;
}

/** A body with one item for each amount. */
export function bodyOf(amounts: readonly string[], options: BatchOptions = {}): PayoutBatchInput {
  const { network = 'erc20', currency = 'USDT', to = 'succeed' } = options;
  return {
    currency,
    items: amounts.map((amount) => ({ network, address: TO[network][to], amount })),
  };
}

/** Calls of one merchant as raw as they go over the wire. */
export function caller(service: TestService, merchant: TestMerchant, baseUrl = service.baseUrl) {
  const call = (path: string, options: SignedOptions = {}): Promise<Answer> =>
    send(`${baseUrl}/api/v1${path}`, merchant, options);
  const post = (path: string, body: object | string = '', headers: Record<string, string> = {}) =>
    call(path, {
      method: 'POST',
      headers,
      ...(body === '' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    call,
    post,
    create: (body: object | string, key: string = randomUUID()) =>
      post('/payout-batches', body, { 'idempotency-key': key }),
    submit: (batchId: string) => post(`/payout-batches/${batchId}/submit`),
    cancel: (batchId: string) => post(`/payout-batches/${batchId}/cancel`),
    read: async (batchId: string) =>
      (await call(`/payout-batches/${batchId}`)).json as unknown as PayoutBatch,
    items: async (batchId: string, query = 'limit=100') =>
      (await call(`/payout-batches/${batchId}/items?${query}`)).json.data as PayoutItem[],
  };
}
export type Calls = ReturnType<typeof caller>;

/** The body of an answer that has to be 200. */
export async function ok<T>(answer: Promise<{ status: number; json: object }>): Promise<T> {
  const { status, json } = await answer;
  expect(status, JSON.stringify(json)).toBe(200);
  return json as T;
}

/** Creates a batch and answers it. */
export async function draft(
  calls: Calls,
  amounts: readonly string[],
  options: BatchOptions = {},
): Promise<PayoutBatch> {
  const answer = await calls.create(bodyOf(amounts, options));
  expect(answer.status, answer.text).toBe(200);
  return answer.json as unknown as PayoutBatch;
}

/** Status and errorCode of an answer, as one comparable text. */
export const verdict = ({ status, json }: Answer) => `${status} ${String(json.errorCode ?? json.status)}`;

/** Sets a payout setting of one merchant, as the operator would. */
export async function configure(
  service: TestService,
  merchant: { merchantId: string },
  values: Partial<Record<keyof typeof PAYOUT_SETTINGS, unknown>>,
): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const setting = PAYOUT_SETTINGS[name as keyof typeof PAYOUT_SETTINGS];
    await writeSetting(service.app.db, merchant.merchantId, setting as never, value);
  }
}

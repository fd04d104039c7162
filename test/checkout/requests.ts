import type { CheckoutSession, Payment, SessionPayInput } from '@florin/contract/schemas';
import { caller, ok } from '../payouts/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';

export const TOKEN = 1_000_000;

/** Calls of one merchant around sessions and payments, each expected to be answered 200. */
export function checkout(service: TestService, merchant: TestMerchant) {
  const calls = caller(service, merchant);
  return {
    ...calls,
    open: (body: object = {}, headers: Record<string, string> = {}) =>
      ok<CheckoutSession>(
        calls.post('/checkout/sessions/create', { amount: 100 * TOKEN, currency: 'USDT', ...body }, headers),
      ),
    session: (id: string) => ok<CheckoutSession>(calls.call(`/checkout/sessions/${id}`)),
    cancelSession: (id: string) => ok<CheckoutSession>(calls.post(`/checkout/sessions/${id}/cancel`)),
    payment: (id: string) => ok<Payment>(calls.call(`/payment/${id}`)),
    accept: (id: string, body: object = {}) => ok<Payment>(calls.post(`/payment/${id}/accept`, body)),
    pay: (id: string, body: Partial<SessionPayInput> = {}) =>
      ok<Payment>(
        calls.post(`/test_helpers/checkout/sessions/${id}/pay`, {
          currency: 'USDT',
          network: 'erc20',
          ...body,
        }),
      ),
    chain: (network: string, body: object) => ok(calls.post(`/test_helpers/chains/${network}`, body)),
  };
}

/** Types of a resource's events, oldest first; without the updates in between, which depend on when it was looked at. */
export async function eventTypesOf(merchant: TestMerchant, resource: string): Promise<string[]> {
  const events: { type: string; sequence: number }[] = [];
  for await (const event of merchant.sdk.events.list({ resource })) events.push(event);
  return events
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ type }) => type)
    .filter((type) => type !== 'payment.updated');
}

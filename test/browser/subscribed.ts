import type { TestMerchant, TestService } from '../service.ts';
import { billing } from '../subscriptions/billing.ts';

/** A subscription whose customer stands before its page; `link` opens the customer's portal. */
export async function subscribe(service: TestService, merchant: TestMerchant, more: object = {}) {
  const calls = billing(service, merchant);
  const made = (await calls.make({
    description: 'Notebooks, every month another one',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
    ...more,
  })) as { id: string; checkout_url?: string };
  const link = async () => {
    const body = { customer: 'customer-1', return_url: 'https://shop.example/account' };
    return ((await calls.post('/portal/sessions', body)).json as { url: string }).url;
  };
  return { ...calls, id: made.id, url: made.checkout_url ?? '', link };
}

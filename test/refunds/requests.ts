import type { Refund } from '@florin/contract/schemas';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { caller, ok } from '../payouts/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';

const TIMEOUT_MS = 30_000;

/** A merchant whose hot wallets hold coins, as refunds leave from them, but whose balance is what payers paid. */
export async function shop(service: TestService, { funds = 0n }: { funds?: bigint } = {}) {
  const merchant = await service.createMerchant({ funds });
  return { merchant, ...refunds(service, merchant) };
}

/** Calls of one merchant around refunds. */
export function refunds(service: TestService, merchant: TestMerchant, baseUrl = service.baseUrl) {
  const calls = { ...checkout(service, merchant), ...caller(service, merchant, baseUrl) };
  let made = 0;
  const create = (body: object) => calls.post('/refunds/create', { refund_id: `r-${++made}`, ...body });
  const read = (id: string) => ok<Refund>(calls.call(`/refunds/${id}`));
  return {
    ...calls,
    create,
    refund: (body: object) => ok<Refund>(create(body)),
    read,
    cancel: (id: string) => calls.post(`/refunds/${id}/cancel`),
    claim: (id: string, address: string) => calls.post(`/test_helpers/refunds/${id}/claim`, { address }),
    /** A payment with money, completed unless `amount` says otherwise. */
    paid: async (pay: object = {}, session: object = {}) => {
      const { id } = await calls.open(session);
      return await calls.pay(id, pay);
    },
    /** Waits for the end of a refund, with blocks and the clock moving. */
    ended: async (id: string): Promise<Refund> => {
      const untilMs = Date.now() + TIMEOUT_MS;
      for (;;) {
        const refund = await read(id);
        if (refund.completed_at !== null || Date.now() > untilMs) return refund;
        await merchant.sdk.testHelpers.advanceClock(5);
      }
    },
    balance: async (currency = 'USDT') => {
      const { data } = await merchant.sdk.balances.retrieve();
      const row = data.find((one) => one.currency === currency);
      return { available: row?.available, held: row?.held, refund_hold: row?.refund_hold };
    },
  };
}

export { TOKEN };

/** Everything of a list. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}

/** `400 amount`: what was refused, and why. */
export function refusal({ status, json }: { status: number; json: object }): string {
  const { error } = json as { error?: { code?: string; param?: string } };
  if (error === undefined) return String(status);
  return `${status} ${error.param ?? error.code ?? ''}`;
}

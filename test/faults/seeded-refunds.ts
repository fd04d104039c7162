import { testAddresses } from '../../packages/server/src/chains/index.ts';
import type { GoodClient } from './good-client.ts';
import { persevere } from './persevere.ts';
import type { MoneyStage } from './seeded-money-actions.ts';

const TOKEN = 1_000_000;
const PAYMENT = 8 * TOKEN;
const REFUND_TOKENS = 2;

/** Whose wallet is proven at the checkout, and so how much of the payment may go back to it without a word. */
const PROVEN = ["the payer's", "a stranger's", "nobody's"] as const;

/** Refunds that name no address: to the wallet that proved itself and paid, else to whoever has the link. */
export async function refundToPayer({ world, round, client }: MoneyStage): Promise<void> {
  const { network } = round;
  const proven = PROVEN[round.target % PROVEN.length];
  const session = await client.openSession(PAYMENT);
  const pay = (more: object) => client.pay(session, { currency: 'USDT', network, from: 'new', ...more });
  await pay({ amount: PAYMENT - TOKEN, connected: proven === "the payer's" });
  await pay({ amount: TOKEN, connected: proven === "a stranger's" });
  // All at once: together they take no more than was paid, and no wallet gets more than it sent.
  const made = await Promise.all(
    Array.from({ length: 1 + round.count }, () => client.refund(session, undefined, REFUND_TOKENS)),
  );
  const own = await ownAddresses({ world, round, client });
  for (const refund of made) {
    if (refund === undefined || refund.address !== null) continue;
    await claim(client, String(refund.refund_id), own, testAddresses(network));
  }
}

/** Where nobody can be paid: the merchant's wallet and what was given to payers, in each spelling. */
async function ownAddresses({ world, round, client }: MoneyStage): Promise<string[]> {
  const { network } = round;
  const given = await persevere(() =>
    world.database.query<{ address: string }>(
      `select address from payment_option where merchant_id = $1 and network = $2 and watch is not null limit 2`,
      [client.merchantId, network],
    ),
  );
  const hot = await persevere(() => world.onChain(client, network, (chain) => chain.hotAddress()));
  const own = [hot, ...given.map(({ address }) => address)];
  return network === 'erc20' ? [...own, hot.toLowerCase()] : own;
}

/** Several people have the link: own addresses are refused, and of the others one is heard at most. */
async function claim(
  client: GoodClient,
  refundId: string,
  own: readonly string[],
  { succeed, fail }: { succeed: string; fail: string },
): Promise<void> {
  const path = `/test_helpers/refunds/${refundId}/claim`;
  const name = async (address: string) => await client.request('POST', path, { body: { address } });
  for (const { status } of await Promise.all(own.map(name)))
    if (status === 200) throw new Error(`a refund to the merchant's own address was taken`);
  const claims = await Promise.all([succeed, fail, succeed].map(name));
  const heard = claims.filter(({ status }) => status === 200);
  if (heard.length > 1) throw new Error(`${heard.length} claims of ${refundId} were taken`);
}

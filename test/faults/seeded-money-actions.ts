import { setTimeout as sleep } from 'node:timers/promises';
import type { GoodClient } from './good-client.ts';
import type { Round } from './seeded-plan.ts';
import type { World } from './world.ts';

// What an operator, a payer or the network does to money, beside the faults of machines and lines.

const TOKEN = 1_000_000;
const PAYMENT = 25 * TOKEN;
/** Deeper than the three confirmations that the simulated chain calls final. */
const DEEPER_THAN_FINAL = 4;
const BLOCKS_TO_FINAL = 4;
/** Every process obeys a change of a merchant or of the risk list within this time. */
const OBEYED_WITHIN_MS = 1_500;

export interface MoneyStage {
  world: World;
  round: Round;
  client: GoodClient;
}

/** Replaces final blocks: deposits, payouts, failures, charges and sweeps, whatever lies in them. */
export async function reorganiseDeeply({ world, round, client }: MoneyStage): Promise<void> {
  await sleep(round.forMs);
  const reorg = DEEPER_THAN_FINAL + (round.target % 9);
  await world.controlChain(round.network, { reorg, remine: round.count === 1 }, client);
}

/** Bytes of these networks end by themselves. */
const EXPIRING = ['trc20', 'spl'] as const;
const BLOCKS_TO_EXPIRY = 250;
const BROADCASTS_LOST = 200;

/** Payouts become final, leave their blocks, and nobody gets their bytes again before these have ended. */
export async function loseForGood({ world, round, client }: MoneyStage): Promise<void> {
  const network = EXPIRING[round.target % EXPIRING.length] ?? 'spl';
  await client.submit(await client.create(world.items(network, round.count, { client })));
  await sleep(round.forMs);
  await world.controlChain(network, { mine: BLOCKS_TO_FINAL }, client);
  await sleep(OBEYED_WITHIN_MS);
  await world.controlChain(network, { reorg: 3 * DEEPER_THAN_FINAL, drop_next: BROADCASTS_LOST }, client);
  await world.controlChain(network, { mine: BLOCKS_TO_EXPIRY }, client);
  await sleep(OBEYED_WITHIN_MS);
  // An order replaces what is left of the one before.
  await world.controlChain(network, { drop_next: 1 }, client);
}

/** Pays out and refunds to an address of the merchant's own: each is refused, and nothing moves. */
export async function payOurselves({ world, round, client }: MoneyStage): Promise<void> {
  const session = await client.openSession(PAYMENT);
  await client.pay(session, { currency: 'USDT', network: round.network, amount: PAYMENT });
  const { payment_id } = await client.insist('GET', `/checkout/sessions/${session}`);
  const { address } = await client.insist('GET', `/payment/${String(payment_id)}`);
  // Where the payer never came through the fault, no address was given out.
  if (typeof address !== 'string') return;
  const [item] = world.items(round.network, 1, { client });
  if (item === undefined) return;
  const batch = await client.create([{ ...item, address }]);
  const read = await client.insist('GET', `/payout-batches/${batch}`);
  if (read.invalid_count !== 1) throw new Error(`an item to the merchant's own ${address} is valid`);
  const refund = await client.request('POST', '/refunds/create', {
    body: { refund_id: `own-${session}`, payment_id: session, amount: TOKEN, currency: 'USDT', address },
  });
  if (refund.status === 200) throw new Error(`a refund to the merchant's own ${address} was taken`);
}

/** Suspends the merchant under load. While it is, nothing new begins for it; then it goes on as before. */
export async function suspend({ world, round, client }: MoneyStage): Promise<void> {
  client.isSuspended = true;
  await world.operate(({ merchants }) => merchants.suspend(client.publicId));
  await sleep(OBEYED_WITHIN_MS);
  const refused = await client.request('POST', '/payout-batches', {
    body: { currency: 'USDT', items: world.items(round.network, 1, { client }) },
    idempotencyKey: `suspended-${round.target}`,
  });
  if (refused.status === 200) throw new Error('a suspended merchant made a batch');
  await sleep(round.forMs);
  await world.operate(({ merchants }) => merchants.resume(client.publicId));
  await sleep(OBEYED_WITHIN_MS);
  client.isSuspended = false;
}

/** The payer's wallet is sanctioned while its charge is on its way: the coins come and are seized. */
export async function listInFlight({ world, round, client }: MoneyStage): Promise<void> {
  const price_data = { currency: 'USD', product: 'Gold', unit_amount: 700, recurring: { interval: 'day' } };
  const { id } = await client.subscribe([{ price_data }]);
  const wish = { currency: 'USDT', network: round.network };
  const authorized = client.tryTo(`/test_helpers/subscriptions/${String(id)}/authorize`, wish);
  await sleep(round.forMs / 2);
  for (const { network, wallet } of await world.chargesUnderWay(client)) {
    await world.operate(({ risk }) => risk.add(network, wallet, 'listed while it pays'));
  }
  await authorized;
  await world.controlChain(round.network, { mine: BLOCKS_TO_FINAL }, client);
}

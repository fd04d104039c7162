import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asset } from '@florin/contract/money';
import { persevere, perseverePast } from './persevere.ts';
import type { MoneyStage } from './seeded-money-actions.ts';
import type { Network, Person, World } from './world.ts';

// Anybody can send coins anywhere: to the wallet that payouts leave from, and to addresses that payments gave out.

const PAYMENT = 3_000_000;
/** Deeper than any reorganisation of a run: what is booked there does not leave its block any more. */
const BLOCKS_TO_REST = 40;
const TOKEN_DIGITS = 6;
/** Others have booked it meanwhile, or the same person said so before a crash; a charge is on its way. */
const NO_MORE = ['decided on this before', 'than the books expect', 'cannot be read'];

const tokens = (units: bigint) => {
  const text = String(units).padStart(TOKEN_DIGITS + 1, '0');
  return `${text.slice(0, -TOKEN_DIGITS)}.${text.slice(-TOKEN_DIGITS)}`;
};

/** Sends to every kind of place that the merchant has; sometimes people look, and book what lies there for nobody. */
export async function sendAsStranger({ world, round, client }: MoneyStage): Promise<void> {
  const { network, target, count } = round;
  const session = await client.openSession(PAYMENT);
  await client.pay(session, { currency: 'USDT', network, amount: PAYMENT - 1 });
  const given = await persevere(() =>
    world.database.query<{ address: string }>(
      `select address from payment_option where merchant_id = $1 and network = $2 and watch is not null
       order by chosen_at desc, payment_id limit $3`,
      [client.merchantId, network, count],
    ),
  );
  const asset: Asset = target % 2 === 0 ? 'USDT' : 'USDC';
  const reference = randomUUID();
  await persevere(() =>
    world.onChain(client, network, async (chain) => {
      const from = chain.payerAddress('a stranger');
      world.strangers.add(from);
      const places = [await chain.hotAddress(), ...given.map(({ address }) => address)];
      const transfers = places.map((to, i) => ({ from, to, asset, amount: BigInt(target + i + 1) }));
      await chain.pay({ transfers, reference });
    }),
  );
  await sleep(round.forMs);
  if (count === 1) return;
  await world.controlChain(network, { mine: BLOCKS_TO_REST }, client);
  const people = world.people.get(client.merchantId) ?? [];
  await bookSurplus(world, { merchant: client.publicId, network, currency: asset, people });
}

interface Place {
  merchant: string;
  network: Network;
  currency: Asset;
  people: readonly Person[];
}

/** Both people say the same of two references at once: the coins are there for one of them. */
async function bookSurplus(world: World, { merchant, network, currency, people }: Place): Promise<void> {
  const { surpluses } = await persevere(() => world.operate(({ ledger }) => ledger.verify(() => {})));
  const found = surpluses.find(
    (one) => one.merchant_id === merchant && one.network === network && one.currency === currency,
  );
  if (found === undefined) return;
  const words = { network, currency, amount: tokens(found.amount) };
  const votes = [randomUUID(), randomUUID()].flatMap((reference) =>
    people.map(
      (person) => () =>
        world.operate(({ networks }) => networks.bookSurplus({ ...words, reference, ...person }, merchant)),
    ),
  );
  await Promise.all(votes.map((vote) => perseverePast(NO_MORE, vote)));
}

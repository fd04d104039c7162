import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ASSETS, type Asset } from '@florin/contract/money';
import type { GoodClient } from './good-client.ts';
import { persevere } from './persevere.ts';
import type { MoneyStage } from './seeded-money-actions.ts';
import type { World } from './world.ts';

// A page with two options: their quotes end, the rates move or cannot be had, dust comes, and then money for both in one
// block.

const CENTS = 100;
/** Less than a hundredth of any price here: it holds no quote. */
const DUST = 900;
const PAGE_WITHIN_MS = 5_000;
const BLOCKS_TO_FINAL = 4;
/** No wait; past the end of a quote, within its grace; past both. */
const WAITS_SECONDS = [0, 950, 1_100] as const;

/** What becomes of the rates meanwhile: each setting of the merchant for a while. */
const RATES = [
  { name: 'rates.fixed', value: 'USDT/USD=1.02,USDC/USD=0.985' },
  { name: 'rates.fixed', value: 'USDT/USD=2,USDC/USD=2' },
  { name: 'rates.sources', value: 'fixed https://rates.invalid/{TOKEN}/{CURRENCY}#rate' },
] as const;

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** The payer chooses on the page, as a form without script does. */
async function choose(world: World, page: string, currency: Asset, network: string): Promise<void> {
  const { pathname } = new URL(page);
  const body = new URLSearchParams({ option: `${currency}:${network}` });
  const signal = AbortSignal.timeout(PAGE_WITHIN_MS);
  // Whoever meets a fault has chosen nothing, or does not know.
  await fetch(`${world.server.baseUrl}${pathname}`, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal,
  }).catch(() => {});
}

interface OptionRow {
  currency: Asset;
  address: string;
  pay_amount: string;
}

const optionsOf = (world: World, { merchantId }: GoodClient, network: string) =>
  persevere(() =>
    world.database.query<OptionRow>(
      `select currency, address, pay_amount::text from payment_option
       where (merchant_id, payment_id) = (select merchant_id, payment_id from payment
         where merchant_id = $1 and currency = 'USD' and session_id is not null and invoice_id is null
         order by payment_id desc limit 1)
       and network = $2 and watch is not null`,
      [merchantId, network],
    ),
  );

async function withRates(
  world: World,
  { publicId }: GoodClient,
  { name, value }: (typeof RATES)[number],
  work: () => Promise<void>,
): Promise<void> {
  await persevere(() => world.operate(({ settings }) => settings.set(name, value, publicId)));
  try {
    await work();
  } finally {
    await persevere(() => world.operate(({ settings }) => settings.unset(name, publicId)));
  }
}

export async function payAsQuotesEnd(stage: MoneyStage): Promise<void> {
  const { world, round, client } = stage;
  const { network, target } = round;
  const dollars = 20 + (target % 30);
  const session = await client.openSession(dollars * CENTS, randomUUID(), 'USD');
  const { url } = await client.insist('GET', `/checkout/sessions/${session}`);
  for (const currency of ASSETS) await choose(world, String(url), currency, network);
  if (target % 2 === 0) await client.pay(session, { currency: at(ASSETS, target), network, amount: DUST });
  await withRates(world, client, at(RATES, target), async () => {
    const seconds = at(WAITS_SECONDS, round.count);
    if (seconds > 0) await client.insist('POST', '/test_helpers/clock/advance', { seconds });
    await payBoth(stage);
    await sleep(round.forMs);
  });
  await world.controlChain(network, { mine: BLOCKS_TO_FINAL }, client);
}

/** Enough for each option, or half of it for each, by one transaction: in one block. */
async function payBoth({ world, round, client }: MoneyStage): Promise<void> {
  const { network, target } = round;
  const options = await optionsOf(world, client, network);
  if (options.length === 0) return;
  const reference = randomUUID();
  await persevere(() =>
    world.onChain(client, network, async (chain) => {
      const from = chain.payerAddress('somebody');
      const share = BigInt(1 + (target % 2));
      const transfers = options.map(({ currency, address, pay_amount }) => {
        return { from, to: address, asset: currency, amount: BigInt(pay_amount) / share };
      });
      await chain.pay({ transfers, reference });
    }),
  );
  await world.controlChain(network, { mine: round.count === 1 ? 1 : BLOCKS_TO_FINAL }, client);
}

import type { Asset, Network } from '@florin/contract/money';
import type pg from 'pg';
import type { SimulatedChain } from '../../packages/server/src/chains/index.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';

const NETWORK: Network = 'erc20';
const ASSET: Asset = 'USDT';
const DAY_SECONDS = 86_400;
/** What each wallet holds, allows and may be charged a day: 1,000.00. */
const PLENTY = 1_000_000_000n;
/** 20.00 USD a day. */
const PRICE = 2_000n;
const CHUNK = 1_000;
const BLOCKS_TO_FINAL = 10;

/** Customers whose mandates stand on the chain, as many at once as no page could take. */
const WRITE_MANDATES = `
  with due as (
    select * from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[])
      with ordinality as d (customer_id, subscription_id, method_id, wallet, mandate_id, salt, n)
  ), customers as (
    insert into customer (merchant_id, customer_id, external_customer_id, created_at)
    select $1::uuid, customer_id, customer_id::text, $9::bigint from due
  ), methods as (
    insert into payment_method (merchant_id, payment_method_id, store_id, customer_id, currency, network,
      wallet_address, recipient, mandate_id, salt, cap_amount, interval, starts_at, status, balance, allowance,
      read_at, next_read_at, created_at)
    select $1::uuid, method_id, $2::uuid, customer_id, '${ASSET}', '${NETWORK}', wallet, $10, mandate_id, salt,
      ${PLENTY}, 'day', $9::bigint, 'active', ${PLENTY}, ${PLENTY}, $9::bigint, $9::bigint + ${30 * DAY_SECONDS},
      $9::bigint
    from due
  )
  insert into subscription (merchant_id, subscription_id, store_id, customer_id, customer, currency, status, items,
    amount, interval, payment_method_id, billing_cycle_anchor, current_period_start, current_period_end, page_token,
    created_at)
  select $1::uuid, subscription_id, $2::uuid, customer_id, customer_id::text, 'USD', 'active',
    jsonb_build_array(jsonb_build_object('id', method_id, 'product', 'Gold', 'unit_amount', '${PRICE}', 'quantity', 1,
      'metadata', '{}'::jsonb)),
    ${PRICE}, 'day', method_id, $9::bigint, $9::bigint, $9::bigint + ${DAY_SECONDS}, md5(subscription_id::text),
    $9::bigint
  from due`;

/** What their wallets have said on the chain, in a block that is final. */
const WRITE_WALLETS = `
  with due as (
    select * from unnest($2::text[], $3::text[]) with ordinality as d (wallet, mandate_id, n)
  ), accounts as (
    insert into simchain.account (merchant_id, network, address, currency, balance)
    select $1::uuid, '${NETWORK}', wallet, '${ASSET}', ${PLENTY} from due
  ), first as (
    update simchain.chain set next_transfer = next_transfer + 2 * (select count(*) from due)
    where merchant_id = $1::uuid and network = '${NETWORK}'
    returning next_transfer - 2 * (select count(*) from due) as number
  )
  insert into simchain.permission (merchant_id, network, number, tx_id, kind, owner, currency, spender, amount,
    mandate_id, height)
  select $1::uuid, '${NETWORK}', first.number + 2 * (n - 1) + said.place, 'given ' || mandate_id, said.kind, wallet,
    '${ASSET}', case said.kind when 'approve' then $4 end, case said.kind when 'approve' then ${PLENTY} end,
    case said.kind when 'activate' then mandate_id end, $5::bigint
  from due, first, (values (0, 'approve'), (1, 'activate')) as said (place, kind)`;

const WRITE_JOBS = `
  insert into job (merchant_id, job_id, kind, unique_key, payload, due_at_ms, follows_clock)
  select merchant_id, gen_random_uuid(), 'subscriptions.due', subscription_id::text,
    jsonb_build_object('subscriptionId', subscription_id), current_period_end * 1000, true
  from subscription where merchant_id = any($1::uuid[])
  on conflict (merchant_id, kind, unique_key) do nothing`;

interface Payee {
  merchantId: string;
  storeId: string;
  chain: SimulatedChain;
  /** Where the chains lie, if not in the same database. */
  chainClient?: pg.Client;
}

/** Active subscriptions of a merchant whose period ends at `dueAt`, each with a mandate of a wallet of its own. */
export async function addSubscribers(
  client: pg.Client,
  { merchantId, storeId, chain, chainClient = client }: Payee,
  { count, dueAt }: { count: number; dueAt: number },
): Promise<void> {
  const { finalHeight } = await chain.mine(BLOCKS_TO_FINAL);
  const anchor = dueAt - DAY_SECONDS;
  for (let done = 0; done < count; done += CHUNK) {
    const size = Math.min(CHUNK, count - done);
    const setups = await Promise.all(
      Array.from({ length: size }, async () => {
        const salt = newId().replaceAll('-', '').padStart(64, '0');
        const payer = chain.payerAddress(salt);
        const terms = { asset: ASSET, payer, cap: PLENTY, period: 'day' as const, salt, allowance: PLENTY };
        return await chain.mandateSetup({ ...terms, startsAt: anchor, endsAt: null });
      }),
    );
    const ids = () => setups.map(() => newId());
    const mandates = setups.map(({ mandate }) => mandate);
    const [wallets, names] = [mandates.map(({ payer }) => payer), mandates.map((one) => one.mandateId)];
    const salts = mandates.map(({ salt }) => salt);
    const recipient = mandates[0]?.recipient;
    const common = [merchantId, storeId, ids(), ids(), ids()];
    await client.query(WRITE_MANDATES, [...common, wallets, names, salts, anchor, recipient]);
    await chainClient.query(WRITE_WALLETS, [merchantId, wallets, names, setups[0]?.spender, finalHeight]);
  }
}

/** Has all subscriptions of these merchants that are not billed yet renewed as their periods end. */
export async function beginBilling(client: pg.Client, merchantIds: readonly string[]): Promise<void> {
  await client.query('begin');
  await client.query(WRITE_JOBS, [merchantIds]);
  // Plans are made for tables of this size, as they are where subscriptions came one after the other.
  await client.query('analyze');
  await client.query('commit');
}

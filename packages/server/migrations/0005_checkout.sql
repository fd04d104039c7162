-- Checkout sessions, their payments and what arrives at payments' addresses.
set local lock_timeout = '5s';

-- What a payer owes and what has come of it. Everything that changes a payment or its transactions locks its row.
create table payment (
  merchant_id uuid not null,
  payment_id uuid not null,
  store_id uuid not null,
  session_id uuid,
  customer text,
  -- The price: smallest unit of its currency, fiat or token.
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed', 'expired', 'cancelled', 'frozen')),
  -- The option that the first money seen has fixed; free again when all of it is gone. And the one last chosen.
  fixed_currency text,
  fixed_network text,
  chosen_currency text,
  chosen_network text,
  -- Of the transfers that count, at 6 digits: final ones; refunds of them that succeeded; refunds of them under way;
  -- and what of them lies in `held`, as long as the payment is not completed.
  received_amount bigint not null default 0 check (received_amount >= 0),
  refunded_amount bigint not null default 0,
  refunding_amount bigint not null default 0,
  held_amount bigint not null default 0 check (held_amount >= 0),
  decline_code text,
  -- The payer's wallet, where it has proved itself: refunds may go there.
  wallet_address text,
  metadata jsonb not null default '{}',
  expires_at bigint,
  canceled_at bigint,
  completed_at bigint,
  created_at bigint not null,
  primary key (merchant_id, payment_id),
  check ((status = 'completed') = (completed_at is not null)),
  check (refunded_amount >= 0 and refunding_amount >= 0 and refunded_amount + refunding_amount <= received_amount)
);
select app.shard('payment');

create table checkout_session (
  merchant_id uuid not null,
  session_id uuid not null,
  store_id uuid not null,
  payment_id uuid not null,
  -- Random, a part of the page's address: whoever knows an id cannot open the page.
  page_token text not null,
  order_id text,
  description text,
  customer_email text,
  success_url text,
  cancel_url text,
  -- [{"currency": "USDT", "network": "erc20"}]: what the payer may choose from.
  options jsonb not null,
  created_at bigint not null,
  primary key (merchant_id, session_id)
);
select app.shard('checkout_session');

-- An option that the payer chose: its address, for ever, and its quote.
create table payment_option (
  merchant_id uuid not null,
  payment_id uuid not null,
  currency text not null,
  network text not null,
  address text not null,
  watch text not null,
  -- What one token costs in the payment's currency, as decimal text; and what is to be sent, at 6 digits.
  exchange_rate text not null,
  pay_amount bigint not null check (pay_amount > 0),
  quote_ends_at bigint not null,
  chosen_at bigint not null,
  primary key (merchant_id, payment_id, currency, network)
);
select app.shard('payment_option');

-- To whom an address belongs. Addresses are never used again and watched for ever.
create table deposit_address (
  merchant_id uuid not null,
  network text not null,
  watch text not null,
  payment_id uuid not null,
  currency text not null,
  address_index bigint not null,
  primary key (merchant_id, network, watch),
  unique (merchant_id, network, address_index)
);
select app.shard('deposit_address');

-- How far the final blocks of a merchant's network have been read, and the head as it was then.
create table deposit_cursor (
  merchant_id uuid not null,
  network text not null,
  next_address_index bigint not null default 0,
  cursor text,
  -- Seconds of the merchant's clock at which the network was last read to its tip.
  read_at bigint not null default 0,
  height bigint not null default 0,
  primary key (merchant_id, network)
);
select app.shard('deposit_cursor');

-- A transfer to an address of a payment, keyed as the chain does: credited at most once.
create table payment_transaction (
  merchant_id uuid not null,
  network text not null,
  tx_id text not null,
  index integer not null,
  payment_id uuid not null,
  -- Null: a token that is not listed.
  currency text,
  address text not null,
  sender text not null,
  amount bigint not null check (amount > 0),
  kind text not null check (kind in ('counted', 'wrong_token', 'seized', 'unlisted')),
  status text not null check (status in ('seen', 'final', 'gone')),
  -- What was decided of a final one: a wrong token accepted, a seizure released (then it is of another kind) or kept.
  decision text check (decision in ('accepted', 'released', 'kept')),
  -- Of a wrong_token transfer: what lies in `held`, what was refunded, and refunds under way.
  held_amount bigint not null default 0 check (held_amount >= 0),
  refunded_amount bigint not null default 0,
  refunding_amount bigint not null default 0,
  height bigint not null,
  seen_at bigint not null,
  final_at bigint,
  primary key (merchant_id, network, tx_id, index),
  check ((status = 'final') = (final_at is not null)),
  check (refunded_amount >= 0 and refunding_amount >= 0 and refunded_amount + refunding_amount <= amount)
);
select app.shard('payment_transaction');
create index payment_transaction_payment on payment_transaction (merchant_id, payment_id, seen_at, tx_id, index);
create index payment_transaction_open on payment_transaction (merchant_id, network) where status = 'seen';

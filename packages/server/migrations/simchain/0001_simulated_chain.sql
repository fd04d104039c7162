-- The simulated chain of sandbox merchants: a schema that can stand in a database of its own, so it refers to nothing
-- outside itself. (merchant_id, network) leads every key. Heights are blocks, times are Unix seconds of the merchant's
-- clock, token amounts are int8 at 6 digits. Empty blocks have no rows.
set local lock_timeout = '5s';

create schema if not exists simchain;

-- On plain PostgreSQL this does nothing; with the citus extension it distributes the table beside simchain.chain.
create function simchain.shard(name text) returns void language plpgsql as $$
begin
  if not exists (select from pg_extension where extname = 'citus') then return; end if;
  execute format('select create_distributed_table(%L, ''merchant_id'', colocate_with => %L)', name,
                 case when name = 'simchain.chain' then 'none' else 'simchain.chain' end);
end $$;

-- One row a chain. Its lock is the chain's one lock: who writes anything of a chain holds it.
create table simchain.chain (
  merchant_id uuid not null,
  network text not null,
  genesis_at bigint not null,
  -- Blocks mined by hand on top of those that the clock made.
  height_offset bigint not null default 0,
  -- Blocks up to here are closed: whatever was due in them is in them.
  settled_height bigint not null,
  settled_at bigint not null,
  next_arrival bigint not null default 1,
  next_transfer bigint not null default 1,
  outage_until bigint not null default 0,
  drop_next integer not null default 0 check (drop_next >= 0),
  -- Lies of the node, one for each broadcast to come.
  faults text[] not null default '{}',
  primary key (merchant_id, network)
);
select simchain.shard('simchain.chain');

create table simchain.transaction (
  merchant_id uuid not null,
  network text not null,
  tx_id text not null,
  -- wallet: broadcast by us. foreign: payers and the faucet.
  origin text not null check (origin in ('wallet', 'foreign')),
  -- gone: expired, replaced or reorganised away; the same bytes may come again.
  state text not null check (state in ('mempool', 'included', 'gone')),
  sender text not null,
  sequence bigint,
  raw text,
  fee bigint not null default 0,
  arrival bigint not null,
  not_before bigint not null default 0,
  height bigint,
  -- One digit an item: 1 moved, 0 did not.
  item_ok text,
  reason text,
  primary key (merchant_id, network, tx_id),
  check ((state = 'included') = (height is not null))
);
select simchain.shard('simchain.transaction');
create unique index transaction_sequence on simchain.transaction (merchant_id, network, sender, sequence)
  where sequence is not null and state <> 'gone';
create index transaction_mempool on simchain.transaction (merchant_id, network, arrival) where state = 'mempool';
create index transaction_height on simchain.transaction (merchant_id, network, height) where height is not null;

create table simchain.transfer (
  merchant_id uuid not null,
  network text not null,
  number bigint not null,
  tx_id text not null,
  index integer not null,
  item_id text,
  currency text not null,
  sender text not null,
  recipient text not null,
  amount bigint not null check (amount > 0),
  height bigint not null,
  primary key (merchant_id, network, number),
  unique (merchant_id, network, tx_id, index)
);
select simchain.shard('simchain.transfer');
-- The payout contract's memory on erc20: an item is paid once, whatever is sent. The other networks have none.
create unique index transfer_item on simchain.transfer (merchant_id, network, sender, item_id)
  where item_id is not null and network = 'erc20';
create index transfer_height on simchain.transfer (merchant_id, network, height);
create index transfer_recipient on simchain.transfer (merchant_id, network, recipient, number);
create index transfer_sender on simchain.transfer (merchant_id, network, sender, number);

create table simchain.account (
  merchant_id uuid not null,
  network text not null,
  address text not null,
  currency text not null,
  balance bigint not null check (balance >= 0),
  primary key (merchant_id, network, address, currency)
);
select simchain.shard('simchain.account');

-- The lowest sequence that no mined transaction of the sender has used.
create table simchain.sender (
  merchant_id uuid not null,
  network text not null,
  address text not null,
  next_sequence bigint not null,
  primary key (merchant_id, network, address)
);
select simchain.shard('simchain.sender');

-- When an item to the `stuck` address was first seen: a rebuilt transaction must not start a new hour.
create table simchain.stuck_item (
  merchant_id uuid not null,
  network text not null,
  sender text not null,
  item_id text not null,
  first_seen_at bigint not null,
  primary key (merchant_id, network, sender, item_id)
);
select simchain.shard('simchain.stuck_item');

-- Deposit addresses of networks on which no public key derives any: the holder of the keys names them ahead, and they are stored before they
-- are given out. `chains/pool/address-pool.ts`.
set local lock_timeout = '5s';

create table deposit_pool (
  merchant_id uuid not null,
  network text not null,
  -- The addresses with smaller numbers are stored. The next one to give out is `deposit_cursor.next_address_index`.
  filled_to bigint not null default 0 check (filled_to >= 0),
  primary key (merchant_id, network)
);
select app.shard('deposit_pool');

create table deposit_pool_address (
  merchant_id uuid not null,
  network text not null,
  address_index bigint not null check (address_index >= 0),
  address text not null,
  watch text not null,
  primary key (merchant_id, network, address_index),
  unique (merchant_id, network, watch)
);
select app.shard('deposit_pool_address');

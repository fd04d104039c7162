-- Who pays a merchant, by the merchant's own id of them.
set local lock_timeout = '5s';

create table customer (
  merchant_id uuid not null,
  customer_id uuid not null,
  external_customer_id text not null,
  email text,
  name text,
  phone text,
  description text,
  created_at bigint not null,
  primary key (merchant_id, customer_id),
  -- Of two requests that bring the same new customer one makes it, the other one finds it.
  unique (merchant_id, external_customer_id)
);
select app.shard('customer');
create index customer_list on customer (merchant_id, created_at, customer_id);

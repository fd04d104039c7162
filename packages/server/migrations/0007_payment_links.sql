-- Links of a store that anybody may open to pay: each use makes a checkout session.
set local lock_timeout = '5s';

create table payment_link (
  merchant_id uuid not null,
  link_id uuid not null,
  store_id uuid not null,
  -- In the smallest unit of its currency; null: the payer says how much.
  amount bigint check (amount > 0),
  currency text not null,
  description text,
  active boolean not null default true,
  created_at bigint not null,
  primary key (merchant_id, link_id)
);
select app.shard('payment_link');
create index payment_link_list on payment_link (merchant_id, store_id, created_at, link_id);

-- Links by which customers see and change their subscriptions at a store, each for a time.
set local lock_timeout = '5s';

create table portal_session (
  merchant_id uuid not null,
  portal_session_id uuid not null,
  store_id uuid not null,
  customer_id uuid not null,
  -- The merchant's own id of the customer.
  customer text not null,
  -- SHA-256 of the secret in the link: a copy of the database opens none.
  secret_hash bytea not null,
  return_url text not null,
  expires_at bigint not null,
  created_at bigint not null,
  primary key (merchant_id, portal_session_id)
);
select app.shard('portal_session');
create index portal_session_customer on portal_session (merchant_id, customer_id, expires_at);

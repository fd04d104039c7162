-- Events get a place in their store's stream; endpoints and deliveries carry them to merchants' servers.
set local lock_timeout = '5s';

-- Events and deliveries fall into days by the time in event_id (UUID version 7), so that old days are dropped whole.
-- The default partition takes what no day was made for: nothing is lost because a maintenance job was late.
create table event_before as select * from event;
drop table event;
create table event (
  merchant_id uuid not null,
  event_id uuid not null,
  store_id uuid not null,
  type text not null,
  -- The resource as callers know it (pb_…), and the place of this event among its events.
  resource text not null,
  sequence bigint not null,
  -- Its place among the store's events, in order of commit; null until it has been published.
  number bigint,
  -- The bytes that every delivery sends.
  body text not null,
  created_at bigint not null,
  recorded_at_ms bigint not null,
  primary key (merchant_id, event_id)
) partition by range (event_id);
create table event_default partition of event default;
select app.shard('event');
create index event_order on event (merchant_id, store_id, created_at desc, event_id desc);
create index event_type on event (merchant_id, store_id, type, created_at desc, event_id desc);
create index event_resource on event (merchant_id, resource, event_id desc);
create index event_stream on event (merchant_id, store_id, number);
insert into event (merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms)
  select merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms from event_before;
drop table event_before;

-- The last number of a store's stream; its row lock lets one publisher of a store work at a time.
create table event_stream_end (
  merchant_id uuid not null,
  store_id uuid not null,
  number bigint not null,
  primary key (merchant_id, store_id)
);
select app.shard('event_stream_end');

-- Which key's secret signs a store's webhooks. While a change overlaps, the one before still signs.
alter table store
  add column webhook_key_id uuid,
  add column previous_webhook_key_id uuid,
  add column previous_webhook_key_until_ms bigint;
update store set webhook_key_id = first.key_id
from (
  select distinct on (merchant_id, store_id) merchant_id, store_id, key_id
  from api_key order by merchant_id, store_id, created_at, key_id
) as first
where first.merchant_id = store.merchant_id and first.store_id = store.store_id;

-- While a key's secret rotates the old one signs webhooks, until the merchant confirms that it verifies both.
alter table api_key add column previous_secret_signs boolean not null default true;

create table webhook_endpoint (
  merchant_id uuid not null,
  endpoint_id uuid not null,
  store_id uuid not null,
  url text not null,
  -- Names of event types; * stands for all that the specification names.
  types text[] not null,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('by_request', 'failing')),
  -- Failed attempts since the last acknowledgement, and when the first of them began (tests not counted).
  failures integer not null default 0,
  failing_since_ms bigint,
  created_at bigint not null,
  primary key (merchant_id, endpoint_id),
  check ((status = 'disabled') = (disabled_reason is not null))
);
select app.shard('webhook_endpoint');
create index webhook_endpoint_store on webhook_endpoint (merchant_id, store_id, endpoint_id);

-- One event on its way to one endpoint.
create table delivery (
  merchant_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  store_id uuid not null,
  event_type text not null,
  -- The event's number in its store: first tries are started in this order. 0 for tests, which go first.
  number bigint not null,
  status text not null check (status in ('pending', 'delivered', 'failed', 'exhausted', 'paused')),
  -- Attempts made in the present series, of 11 at most; and when the next one is due by the merchant's clock.
  series_attempts smallint not null default 0,
  due_at bigint not null,
  attempts jsonb not null default '[]',
  event_created_at bigint not null,
  created_at bigint not null,
  primary key (merchant_id, event_id, endpoint_id)
) partition by range (event_id);
create table delivery_default partition of delivery default;
select app.shard('delivery');
create index delivery_store on delivery (merchant_id, store_id, delivery_id desc);
create index delivery_endpoint on delivery (merchant_id, endpoint_id, delivery_id desc);
create index delivery_undelivered on delivery (merchant_id, store_id, status, delivery_id desc)
  where status <> 'delivered';
create index delivery_first_try on delivery (merchant_id, endpoint_id, number)
  where status = 'pending' and series_attempts = 0;
-- Retries that became due together, by the end of a pause, follow the order of their events.
create index delivery_retry on delivery (merchant_id, endpoint_id, due_at, number)
  where status = 'pending' and series_attempts > 0;
-- What an endpoint may have to send again.
create index delivery_halted on delivery (merchant_id, endpoint_id, status, event_id)
  where status in ('paused', 'failed', 'exhausted');

-- News of every change, written in its transaction: the outbox from which webhooks are delivered.
set local lock_timeout = '5s';

create table event (
  merchant_id uuid not null,
  event_id uuid not null,
  store_id uuid not null,
  type text not null,
  -- The resource as callers know it (pb_…), and the place of this event among its events.
  resource text not null,
  sequence bigint not null,
  -- The bytes that every delivery sends.
  body text not null,
  created_at bigint not null,
  recorded_at_ms bigint not null,
  primary key (merchant_id, event_id)
);
select app.shard('event');
create index event_order on event (merchant_id, store_id, created_at desc, event_id desc);
create index event_type on event (merchant_id, store_id, type, created_at desc, event_id desc);
create unique index event_sequence_once on event (merchant_id, resource, sequence);

-- The last sequence of a resource; its row lock orders the events of one resource by commit.
create table event_sequence (
  merchant_id uuid not null,
  resource text not null,
  sequence bigint not null,
  primary key (merchant_id, resource)
);
select app.shard('event_sequence');

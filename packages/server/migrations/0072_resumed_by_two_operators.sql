-- A stop keeps what else was found since it began, and where; two operators resume a network of real money in the console.
set local lock_timeout = '5s';

alter table network_stop
  -- The lowest block that it is about.
  add column height bigint,
  add column causes integer not null default 1,
  -- When the newest cause was found, in the time of the stop; null: when it began.
  add column last_at bigint;

-- What an operator asks another one to confirm. One for each network; the audit log keeps those of before.
create table network_resume_request (
  -- Whose chain: the nil id, as live merchants share the chains.
  merchant_id uuid not null,
  network text not null,
  request_id uuid not null,
  requested_by uuid not null,
  reason text not null,
  -- Digest of the stops that were looked at.
  seen text not null,
  created_at_ms bigint not null,
  primary key (merchant_id, network)
);
select app.shard('network_resume_request');

-- A stuck transaction is replaced by one with the same sequence and a higher fee: one attempt, several versions, of which one
-- at most is mined.
set local lock_timeout = '5s';

alter table transfer_attempt
  -- How many were signed. The attempt's own bytes are those of the newest, once decided those of the one that was mined.
  add column versions integer not null default 1 check (versions >= 1),
  -- Native coin in its smallest unit: the most that these bytes can cost, and what they did cost.
  add column fee_limit numeric(39),
  add column fee_native numeric(39),
  -- When the newest version was stored to be sent, in seconds of the merchant's clock.
  add column sent_at bigint;

-- All versions of the attempts that have more than one, from 0.
create table transfer_version (
  merchant_id uuid not null,
  attempt_id uuid not null,
  number integer not null check (number >= 0),
  network text not null,
  tx_id text not null,
  raw text not null,
  fee_limit numeric(39),
  signed_at bigint not null,
  primary key (merchant_id, attempt_id, number),
  constraint transfer_version_transaction unique (merchant_id, network, tx_id)
);
select app.shard('transfer_version');

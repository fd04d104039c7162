-- What people decide of seized coins, and reorganisations deeper than finality.
set local lock_timeout = '5s';

-- Who has decided what of a seized transfer: each person once, and two who agree.
create table seizure_vote (
  merchant_id uuid not null,
  network text not null,
  tx_id text not null,
  index integer not null,
  approver_id uuid not null,
  decision text not null check (decision in ('release', 'keep')),
  created_at bigint not null,
  primary key (merchant_id, network, tx_id, index, approver_id)
);
select app.shard('seizure_vote');

-- When a final transfer was found to be in no block any more; null again once it is mined again.
alter table payment_transaction add column lost_at bigint;
create index payment_transaction_final on payment_transaction (merchant_id, network, height) where status = 'final';

-- Networks on which nothing is sent until a person says so: of one sandbox merchant, or of all live ones (the nil merchant).
create table network_stop (
  merchant_id uuid not null,
  network text not null,
  reason text not null,
  stopped_at bigint not null,
  primary key (merchant_id, network)
);
select app.shard('network_stop');

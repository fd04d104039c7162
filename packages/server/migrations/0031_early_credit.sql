-- Small deposits of a network whose finality takes minutes are credited after fewer confirmations.
set local lock_timeout = '5s';

-- Confirmations that the transfer needs, as shown to payers and merchants.
alter table payment_transaction add column required_confirmations integer not null default 3
  check (required_confirmations > 0);
-- Credited before its block was final.
alter table payment_transaction add column is_early boolean not null default false
  check (not is_early or status = 'final');
create index payment_transaction_early on payment_transaction (merchant_id, network, height) where is_early;

-- What a store was credited early in each clock hour.
create table early_credit (
  merchant_id uuid not null,
  store_id uuid not null,
  hour bigint not null,
  amount bigint not null check (amount > 0),
  primary key (merchant_id, store_id, hour)
);
select app.shard('early_credit');

-- A stop concerns sending, or early credit alone.
alter table network_stop add column what text not null default 'sending' check (what in ('sending', 'early_credit'));
alter table network_stop drop constraint network_stop_pkey;
alter table network_stop add primary key (merchant_id, network, what);

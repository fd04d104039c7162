-- Coins that came in: sweeps of deposit addresses, seizures that people decide, reorganisations deeper than finality.
set local lock_timeout = '5s';

-- Which key a transfer leaves from: the hot wallet's or that of a deposit address (`deposit:17`).
alter table transfer add column key_ref text not null default 'hot';
alter table transfer_attempt
  add column key_ref text not null default 'hot',
  -- Block that decided it; null where none did, and in rows from before this column.
  add column height bigint;
create index transfer_attempt_height on transfer_attempt (merchant_id, network, height) where height is not null;

-- The sweep that moves these coins, or has moved them, to the hot wallet.
alter table payment_transaction add column sweep_id uuid;
create index payment_transaction_unswept on payment_transaction (merchant_id, network, address, currency)
  where status = 'final' and sweep_id is null and kind in ('counted', 'wrong_token');
create index payment_transaction_sweep on payment_transaction (merchant_id, sweep_id) where sweep_id is not null;

-- Reorganisations deeper than finality: noticed by the hashes of blocks.
set local lock_timeout = '5s';

-- The newest final blocks as a merchant's networks showed them when they were read. Where the node shows another hash
-- later, sending stops; the row stays marked until the blocks that replaced it were compared with the books.
create table final_block (
  merchant_id uuid not null,
  network text not null,
  height bigint not null,
  hash text not null,
  replaced_at bigint,
  primary key (merchant_id, network, height)
);
select app.shard('final_block');

-- How much of a deposit its sweeps have taken or are taking: after a reorganisation a sweep may move another deposit's coins.
create table sweep_part (
  merchant_id uuid not null,
  sweep_id uuid not null,
  network text not null,
  tx_id text not null,
  index integer not null,
  amount bigint not null check (amount > 0),
  primary key (merchant_id, sweep_id, network, tx_id, index)
);
select app.shard('sweep_part');
insert into sweep_part (merchant_id, sweep_id, network, tx_id, index, amount)
select merchant_id, sweep_id, network, tx_id, index, amount from payment_transaction where sweep_id is not null;

-- The sum of its parts. `sweep_id` names the newest of them.
alter table payment_transaction add column swept_amount bigint not null default 0;
update payment_transaction set swept_amount = amount where sweep_id is not null;
alter table payment_transaction
  add constraint payment_transaction_swept check (swept_amount between 0 and amount and (swept_amount > 0) = (sweep_id is not null));
drop index payment_transaction_unswept;
create index payment_transaction_unswept on payment_transaction (merchant_id, network, address, currency)
  where status = 'final' and swept_amount < amount and kind in ('counted', 'wrong_token');

-- What leaves from deposit addresses.
create index transfer_deposit_key on transfer (merchant_id, network, key_ref) where key_ref <> 'hot';

alter table transfer_attempt
  -- When it was found to have left the final block that decided it; null again once it is decided as before.
  add column gone_at bigint;
update transfer_attempt set gone_at = completed_at, detail = null where detail = 'gone after it was final';
create index transfer_attempt_gone on transfer_attempt (merchant_id, network) where gone_at is not null;
alter table transfer_attempt
  -- A payment to ourselves that takes the sequence of an attempt which must not pay any more.
  add column gap_tx_id text,
  add column gap_raw text,
  -- It is one more attempt of the wallet to whoever signs: its id there, its number, and the attempt numbered before it.
  add column gap_id uuid,
  add column gap_ordinal bigint,
  add column gap_previous_id uuid,
  -- Its transfers that it has paid although they were decided otherwise: the operator's loss is booked for each.
  add column stray_ids uuid[] not null default '{}',
  -- Whether the chain's last word on it was another one than the books'.
  add column differs boolean not null default false;

-- When a transfer that succeeded was found to be paid by nothing, and its bytes can never be in a block.
alter table transfer add column lost_at bigint;
-- One that was lost may be ordered again.
alter table transfer drop constraint transfer_merchant_id_owner_type_owner_id_key;
create unique index transfer_owner on transfer (merchant_id, owner_type, owner_id)
  where status <> 'failed' and lost_at is null;
create index transfer_of_owner on transfer (merchant_id, owner_id);

alter table payout_item
  add column lost_at bigint check (lost_at is null or status in ('succeeded', 'failed'));
alter table refund
  add column lost_at bigint check (lost_at is null or status in ('succeeded', 'failed'));

-- The service's own movements on networks with real money: ether for hot wallets, allowances of the payout contract,
-- contracts of ours. They are attempts without transfers, sent once like all others; and what each transaction cost has a price.
set local lock_timeout = '5s';

alter table transfer_attempt
  -- What it moves where it pays nobody and does not only use a sequence up.
  add column movement jsonb,
  -- What its fee was worth when it was decided, in US dollars; null where no rate was known.
  add column fee_usd numeric(24, 6);

-- The gas tank's wallet is shared: its transactions are numbered over all merchants.
create index transfer_attempt_tank on transfer_attempt (network, sender, ordinal) where key_ref = 'tank';

-- What the gas tank held when a worker last read it.
create table gas_tank (
  network text primary key,
  sender text not null,
  native numeric(39) not null check (native >= 0),
  read_at bigint not null
);
select app.shard_by('gas_tank', 'network');

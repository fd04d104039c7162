-- Deposits on the simulated chain: payers' transactions of several transfers, tokens that are not listed, and reading
-- by recipient in the order of blocks.
set local lock_timeout = '5s';

alter table simchain.transfer
  -- Null for a token that is not listed; `token` says which one it was.
  alter column currency drop not null,
  add column token text,
  add constraint transfer_token check ((currency is null) = (token is not null)),
  -- Unix seconds of the block; 0 for transfers from before this column, which went to no deposit address.
  add column block_time bigint not null default 0,
  -- Anybody can make a transfer of nothing from anybody's address: it must lie there to be passed over.
  drop constraint transfer_amount_check,
  add constraint transfer_amount_check check (amount >= 0);
create index transfer_arrival on simchain.transfer (merchant_id, network, recipient, height, number);

-- How many blocks the node that we ask lies behind the chain.
alter table simchain.chain add column lag_blocks bigint not null default 0 check (lag_blocks >= 0);

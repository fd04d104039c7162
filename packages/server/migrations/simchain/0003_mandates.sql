-- Mandates on the simulated chain: what payers allow and take back, and transactions of ours that pull from them.
set local lock_timeout = '5s';

-- Every word of a payer's wallet, each in a payer's transaction; what holds at a block follows from those up to it.
-- approve: `spender` may pull `amount` of the token from now on. activate, revoke: of one mandate in the collector
-- (erc20); elsewhere a revoke takes back whatever the wallet allowed of that token.
create table simchain.permission (
  merchant_id uuid not null,
  network text not null,
  number bigint not null,
  tx_id text not null,
  kind text not null check (kind in ('approve', 'activate', 'revoke')),
  owner text not null,
  currency text not null,
  spender text,
  amount bigint check (amount >= 0),
  mandate_id text,
  height bigint not null,
  primary key (merchant_id, network, number),
  check ((kind = 'approve') = (spender is not null and amount is not null)),
  check ((kind = 'approve') = (mandate_id is null))
);
select simchain.shard('simchain.permission');
create index permission_owner on simchain.permission (merchant_id, network, owner, currency, height, number);
create index permission_mandate on simchain.permission (merchant_id, network, mandate_id, height, number)
  where mandate_id is not null;
create index permission_height on simchain.permission (merchant_id, network, height);

alter table simchain.transfer
  -- Set for a charge: whose cap it counts in, and the window (Unix seconds).
  add column mandate_id text,
  add column subscription_id text,
  add column window_start bigint,
  add column window_end bigint,
  -- The account of a payer that this chain keeps: what it sends is taken from it, as from a wallet of ours.
  add column from_account boolean not null default false,
  add constraint transfer_charge check (
    (mandate_id is null) = (subscription_id is null) and (mandate_id is null) = (window_start is null)
    and (mandate_id is null) = (window_end is null));
create index transfer_window on simchain.transfer (merchant_id, network, mandate_id, subscription_id, window_start)
  where mandate_id is not null;
create index transfer_pulled on simchain.transfer (merchant_id, network, sender, currency, height, number)
  where mandate_id is not null;

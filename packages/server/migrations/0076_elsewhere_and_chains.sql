-- Since when a mandate is of another collector or delegate than charges now (payment-methods/states.ts).
set local lock_timeout = '5s';

alter table payment_method add column elsewhere_since bigint;
create index payment_method_elsewhere on payment_method (network) where elsewhere_since is not null;

-- What a scan has told that may be stored nowhere is looked for at each scan (chains/solana/scan.ts).
create index solana_mark_reported on solana_mark (merchant_id, reported_at);
create index solana_token_account_account on solana_token_account (merchant_id, account);

-- Which chain the money of a network is on: coins of another one would be owed for with these.
create table live_network (
  network text primary key,
  chain text not null,
  is_test boolean not null
);

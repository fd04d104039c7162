-- The token accounts of deposit addresses on Solana: `chains/solana/account-table.ts`. Who holds a token where is derived from both, and
-- deriving thousands stops a process for seconds.
set local lock_timeout = '5s';

create table solana_token_account (
  merchant_id uuid not null,
  -- The mint of the token.
  mint text not null,
  -- The deposit address.
  owner text not null,
  account text not null,
  primary key (merchant_id, mint, owner)
);
select app.shard('solana_token_account');

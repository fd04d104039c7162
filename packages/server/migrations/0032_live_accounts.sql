-- The installation's own account, 0, has a row as well: its hot wallet is the gas tank. And an account knows from which block
-- on its deposits can lie.
set local lock_timeout = '5s';

alter table chain_account drop constraint chain_account_account_check;
alter table chain_account add constraint chain_account_account_check check (account >= 0);
alter table chain_account add column begins_at bigint check (begins_at >= 0);
alter table chain_account add constraint chain_account_known
  check ((extended_public_key is null) = (begins_at is null)) not valid;

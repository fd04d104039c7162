-- A sweep is noted with the slot before it, so that the end of an earlier one does not stand for it.
set local lock_timeout = '5s';

-- The newest slot when the last sweep of it was built; null: no coins of it are on their way.
alter table solana_mark add column leaving_since bigint check (leaving_since >= -1);
-- Until the account was read once more.
update solana_mark set leaving_since = reported_at where is_leaving;
alter table solana_mark drop column is_leaving;

-- Who owns a merchant's account at the collector, which its mandates depend on.
set local lock_timeout = '5s';

-- Null: a key of the signer, as all that there were.
alter table chain_account add column cold_owner text check (cold_owner ~ '^0x[0-9a-fA-F]{40}$');

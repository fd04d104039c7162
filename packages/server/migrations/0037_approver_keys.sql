-- An approver may have a key of their own: what they sign with it counts as theirs, and a signer of live money asks for it.
set local lock_timeout = '5s';

-- 0x and 64 hex digits: Ed25519; an address: of an Ethereum wallet.
alter table approver add column public_key text check (public_key ~ '^0x([0-9a-f]{64}|[0-9a-fA-F]{40})$');
create unique index approver_public_key on approver (merchant_id, lower(public_key)) where removed_at is null;

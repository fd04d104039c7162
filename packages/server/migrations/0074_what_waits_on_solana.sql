-- Which attempt was the first that was to empty a token account on Solana: it alone closes the account (chains/solana/marks.ts).
set local lock_timeout = '5s';

alter table solana_mark add column swept_by uuid;

-- When an attempt that waits for its signature was last given its share of the gas tank that pays for all (transfers/attempts/hold-share.ts).
alter table transfer_attempt add column share_at bigint;

-- Where wallets have no sequence, an attempt that its signer refuses stays as it is and is asked for again after a pause.
set local lock_timeout = '5s';

alter table transfer_attempt add column refused_at bigint;

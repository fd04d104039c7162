-- A charge that its signer refuses tries again with the attempt that it had: each new number is one more id that the signer has to learn.
set local lock_timeout = '5s';

-- The attempt that a charge takes up again after the hold; null: it takes a new one.
alter table transfer_hold add column attempt_id uuid;

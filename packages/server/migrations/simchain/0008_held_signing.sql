-- Why whoever holds the keys signs nothing at the moment; null: it signs.
set local lock_timeout = '5s';

alter table simchain.chain add column signing_held text;

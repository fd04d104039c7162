-- Blocks leave transactions out whose fee is lower, until somebody replaces them.
set local lock_timeout = '5s';

alter table simchain.chain add column fee_floor bigint not null default 0 check (fee_floor >= 0);

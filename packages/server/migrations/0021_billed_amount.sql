-- Changes of items within a period go by what the period was billed at: a change may have been made without a sum.
set local lock_timeout = '5s';

alter table subscription add column billed_amount bigint not null default 0 check (billed_amount >= 0);
update subscription set billed_amount = amount;

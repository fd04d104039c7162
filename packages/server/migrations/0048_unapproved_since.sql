-- Since when the wallet of a mandate that waits for its activation allows nothing: the payer has an hour from then.
set local lock_timeout = '5s';

alter table mandate_activation add column unapproved_since bigint;

-- What a person of support may refund in a day counts what they made themselves, and not what a key did whose secret they know.
set local lock_timeout = '5s';

-- Null: a key made it, or it is from before.
alter table refund add column made_by_user uuid;

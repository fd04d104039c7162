-- People of the console make and rotate keys, and whoever was shown a secret of a key may send with it.
set local lock_timeout = '5s';

alter table api_key
  -- People who were shown a secret of it. What it creates, edits or submits they never approve.
  add column holders uuid[] not null default '{}',
  -- The newest request that it signed, about to the minute.
  add column last_used_at_ms bigint;

-- As `payout_batch.authors`: a key may have several holders.
alter table refund add column authors uuid[] not null default '{}';
update refund set authors = array[created_by_user] where created_by_user is not null;
alter table refund drop column created_by_user;

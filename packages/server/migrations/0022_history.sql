-- A database is told from its copies: attempts are counted for each wallet, and the history that money is sent from has a
-- name of its own beside the identity of the database.
set local lock_timeout = '5s';

-- The number of the wallet's next attempt, and the first one that counts in the present history; its last attempt.
alter table wallet
  add column next_ordinal bigint not null default 0,
  add column first_ordinal bigint not null default 0,
  add column last_attempt_id uuid;

-- Which attempt of its wallet it is, without a gap, so that whoever signs notices a database that counts again. Only those
-- that wait for their bytes are counted now: the others need no number any more.
alter table transfer_attempt
  add column ordinal bigint,
  -- The attempt of its wallet that was numbered before it; null where that is looked up.
  add column previous_id uuid;
with waiting as (
  select merchant_id, attempt_id, row_number() over (partition by network, sender order by attempt_id) - 1 as ordinal
  from transfer_attempt where status = 'reserved'
)
update transfer_attempt t set ordinal = w.ordinal from waiting w
where t.merchant_id = w.merchant_id and t.attempt_id = w.attempt_id;
with counted as materialized (
  select network, sender, max(ordinal) + 1 as next from transfer_attempt where ordinal is not null group by 1, 2
)
update wallet w set next_ordinal = c.next from counted c where w.sender = c.sender and w.network = c.network;
create unique index transfer_attempt_number on transfer_attempt (merchant_id, network, sender, ordinal)
  where ordinal is not null;
alter table transfer_attempt add constraint transfer_attempt_ordinal
  check (ordinal >= 0 and ordinal is not null or ordinal is null and status <> 'reserved');

-- Until now: the number of the cluster and its timeline, which copies in one cluster share. An installation that may send
-- goes on; one that may not stays as it is.
with identity as (
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as cluster,
         (select oid from pg_database where datname = current_database()) || '/' || 'transfer_attempt'::regclass::oid as place
)
update setting set value = jsonb_build_object(
  'history', gen_random_uuid(),
  'identity', case when value #>> '{}' = i.cluster then i.cluster || '/' || i.place else value #>> '{}' end)
from identity i
where merchant_id = '00000000-0000-0000-0000-000000000000' and name = 'transfers.history';

-- What people, keys and operators have changed. Rows are only ever added (by the rights of the service's role), and each
-- carries the hash of the one before it of its merchant. The nil id stands for the installation.
set local lock_timeout = '5s';

create table audit_entry (
  merchant_id uuid not null,
  -- From 1 without gaps.
  number bigint not null check (number > 0),
  -- Real time, Unix milliseconds.
  at_ms bigint not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'cli')),
  -- Public id of a user or key; for the command line the system's account and machine.
  actor text not null,
  -- The address that a request came from, or the machine.
  origin text not null,
  -- The operation, such as `settings.set`.
  action text not null,
  -- `attempted` before it, one of the others after it; `done` alone where both are one transaction.
  phase text not null check (phase in ('attempted', 'done', 'failed')),
  -- Of an outcome: the number of its attempt.
  attempt bigint,
  request_id text,
  -- JSON without secrets, kept as text because its very characters are hashed.
  details text not null,
  previous_hash bytea not null,
  hash bytea not null,
  -- Under a key that the database does not hold, so that whoever writes to it cannot make a row.
  seal bytea not null,
  primary key (merchant_id, number)
);
select app.shard('audit_entry');

-- The newest row of each chain, locked while one is added.
create table audit_head (
  merchant_id uuid primary key,
  number bigint not null,
  hash bytea not null
);
select app.shard('audit_head');

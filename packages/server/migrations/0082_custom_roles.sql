-- Roles that a merchant makes for itself beside the built-in ones.
set local lock_timeout = '5s';

create table console_role (
  merchant_id uuid not null,
  name text not null check (name ~ '^[a-z][a-z0-9_-]{1,31}$'),
  -- Names of console/roles.ts; one that this version does not know permits nothing.
  permissions text[] not null,
  created_at_ms bigint not null,
  primary key (merchant_id, name)
);
select app.shard('console_role');
-- The name of a built-in role, or of one of the merchant's own.
alter table console_membership drop constraint console_membership_role_check;

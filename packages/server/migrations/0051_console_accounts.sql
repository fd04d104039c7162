-- People who sign in to the console. They belong to the installation; what they may do is a row for each merchant.
set local lock_timeout = '5s';

create table console_user (
  user_id uuid primary key,
  -- In lower case.
  email text not null unique,
  created_at_ms bigint not null,
  -- argon2id; null until an invitation is accepted.
  password_hash text,
  -- For the whole installation.
  installation_role text check (installation_role in ('operator', 'auditor')),
  -- Sealed; counts only when it is confirmed.
  totp_secret bytea,
  totp_confirmed boolean not null default false,
  -- The period of the newest code that was taken: it and those before it are spent.
  totp_used_step bigint not null default 0
);

create table console_membership (
  merchant_id uuid not null,
  user_id uuid not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'finance', 'approver', 'support', 'viewer')),
  created_at_ms bigint not null,
  primary key (merchant_id, user_id)
);
select app.shard('console_membership');
create index console_membership_of_user on console_membership (user_id);

-- Links that work once: their secrets are known to whoever was given them alone.
create table console_link (
  digest bytea primary key,
  user_id uuid not null,
  -- `invitation` gives a role; `sign_in` is made by whoever has the database.
  kind text not null check (kind in ('invitation', 'sign_in')),
  -- Of an invitation: the role that it gives, and with whom; the nil id stands for the installation.
  merchant_id uuid,
  role text,
  -- The user who made it; null: the command line.
  made_by uuid,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  used_at_ms bigint
);
create index console_link_of_user on console_link (user_id);

create table console_session (
  session_id uuid primary key,
  digest bytea not null unique,
  user_id uuid not null,
  created_at_ms bigint not null,
  seen_at_ms bigint not null,
  -- When the password with a second factor was last given.
  proved_at_ms bigint not null,
  has_second_factor boolean not null,
  remote_address text not null,
  user_agent text not null,
  ended_at_ms bigint
);
create index console_session_of_user on console_session (user_id);

create table console_recovery_code (
  user_id uuid not null,
  digest bytea not null,
  used_at_ms bigint,
  primary key (user_id, digest)
);

-- The newest tries for an account or from an address, by the digest of its name.
create table console_attempt (
  subject bytea primary key,
  times_ms bigint[] not null,
  last_at_ms bigint not null
);
create index console_attempt_last on console_attempt (last_at_ms);

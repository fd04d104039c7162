-- Passkeys by which people sign in to the console and prove again who they are.
set local lock_timeout = '5s';

create table console_passkey (
  -- By which the authenticator knows it.
  credential_id bytea primary key,
  user_id uuid not null,
  -- Given by the person, who tells theirs apart by it.
  name text not null,
  -- In the form of COSE.
  public_key bytea not null,
  -- Of signatures; 0 where the authenticator counts none.
  counter bigint not null,
  created_at_ms bigint not null,
  used_at_ms bigint
);
create index console_passkey_of_user on console_passkey (user_id);

-- Challenges that were answered: each counts once. Those that nobody answers leave no row.
create table console_challenge (
  digest bytea primary key,
  expires_at_ms bigint not null
);

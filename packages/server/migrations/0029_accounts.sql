-- Live merchants share a chain. Each has an account of keys on it, and its deposit addresses are told from all others.
set local lock_timeout = '5s';

-- The account's number leads to its keys at the signer; 0 is the installation's own.
create table chain_account (
  network text not null,
  account integer not null check (account >= 1),
  merchant_id uuid not null,
  -- BIP 32; null until the signer has told it. Deposit addresses are derived from it.
  extended_public_key text,
  created_at bigint not null,
  primary key (network, account),
  constraint chain_account_merchant unique (network, merchant_id),
  constraint chain_account_key unique (network, extended_public_key)
);
select app.shard_by('chain_account', 'network');

-- Deposit addresses of all live merchants: blocks are read once for all of them. Sandbox merchants have chains of their own.
create table deposit_owner (
  network text not null,
  -- As it stands in `deposit_address.watch`.
  watch text not null,
  merchant_id uuid not null,
  address_index bigint not null check (address_index >= 0),
  primary key (watch, network)
);
select app.shard_by('deposit_owner', 'watch');

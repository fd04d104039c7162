-- What whoever holds a wallet's keys remembers: for which history of a database it signs, and each transaction that it has
-- signed. It is told the names of its callers and believes nothing that their databases say of the past.
set local lock_timeout = '5s';

-- One row for the keys of a merchant. Another history is let in by a person alone, and counts one generation up.
create table simchain.holder (
  merchant_id uuid primary key,
  history text not null,
  generation bigint not null check (generation > 0)
);
select simchain.shard('simchain.holder');

-- Which attempt has which number of a wallet in a history, without a gap: a copy of a database that lacks the newest
-- attempts counts again what the original has counted, and the holder sees another attempt there.
create table simchain.numbering (
  merchant_id uuid not null,
  network text not null,
  sender text not null,
  history text not null,
  ordinal bigint not null,
  attempt_id text not null,
  primary key (merchant_id, network, sender, history, ordinal)
);
select simchain.shard('simchain.numbering');

-- An attempt is signed once: asked again, the holder gives the same bytes.
create table simchain.signature (
  merchant_id uuid not null,
  network text not null,
  attempt_id text not null,
  raw text not null,
  primary key (merchant_id, network, attempt_id)
);
select simchain.shard('simchain.signature');

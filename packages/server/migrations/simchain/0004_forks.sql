-- Hashes of the simulated chain's blocks: which reorganisation has made the blocks above a height.
set local lock_timeout = '5s';

alter table simchain.chain add column forks integer not null default 0 check (forks >= 0);

create table simchain.fork (
  merchant_id uuid not null,
  network text not null,
  -- From 1, in the order in which they happened.
  number integer not null,
  -- Blocks up to here stayed.
  kept_height bigint not null,
  primary key (merchant_id, network, number)
);
select simchain.shard('simchain.fork');

-- What the last scan knew of the token accounts of deposit addresses on Solana: `chains/solana/marks.ts`. Slots; -1 is before the first.
set local lock_timeout = '5s';

create table solana_mark (
  merchant_id uuid not null,
  -- The associated account of a deposit address and a token, in base58.
  account text not null,
  -- What it held behind the slot `since`, since which nothing has moved in it.
  amount bigint not null check (amount >= 0),
  since bigint not null check (since >= -1),
  -- Where the scan ended that found it out. To one from an earlier place the two columns behind it count.
  reported_at bigint not null check (reported_at >= -1),
  previous_amount bigint not null check (previous_amount >= 0),
  previous_since bigint not null check (previous_since >= -1),
  -- The slot behind which that scan told of transfers before its cursor; null: it told of none.
  late_from bigint check (late_from >= -1),
  -- A sweep of it was built, and no scan has seen coins leave since.
  is_leaving boolean not null default false,
  primary key (merchant_id, account)
);
select app.shard('solana_mark');

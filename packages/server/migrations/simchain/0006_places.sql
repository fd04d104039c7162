-- The payout contract's memory: a place of a batch is paid once, whichever transaction names it. Until now it was the item.
set local lock_timeout = '5s';

alter table simchain.transfer
  -- Null for transfers from before this, and for those that are no item of ours.
  add column batch_id text,
  add column place integer check (place >= 0),
  add constraint transfer_in_batch check ((batch_id is null) = (place is null));
drop index simchain.transfer_item;
create unique index transfer_place on simchain.transfer (merchant_id, network, sender, batch_id, place)
  where batch_id is not null and network = 'erc20';

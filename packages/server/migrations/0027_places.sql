-- A transfer keeps its place in its group, whichever transaction carries it: a payout contract pays each place once.
set local lock_timeout = '5s';

alter table transfer add column place integer;
-- A batch has them by its items. Sweeps were ordered one after the other; refunds and charges are alone.
update transfer t set place = i.index from payout_item i
where t.owner_type = 'payout_item' and i.merchant_id = t.merchant_id and i.batch_id = t.group_id and i.item_id = t.owner_id;
with ordered as (
  select merchant_id, transfer_id, row_number() over (partition by merchant_id, group_id order by transfer_id) - 1 as place
  from transfer where owner_type = 'sweep'
)
update transfer t set place = o.place from ordered o
where t.merchant_id = o.merchant_id and t.transfer_id = o.transfer_id;
update transfer set place = 0 where place is null;
alter table transfer
  alter column place set not null,
  add constraint transfer_place_from_zero check (place >= 0);
-- One that was lost may be ordered again, in its place.
create unique index transfer_place on transfer (merchant_id, group_id, place)
  where status <> 'failed' and lost_at is null;

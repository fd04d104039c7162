-- Who approves sees recipients that look like somebody who was paid before: equal at both ends, without the 0x.
set local lock_timeout = '5s';

create index payout_item_look on payout_item
  (merchant_id, network, lower(left(replace(address, '0x', ''), 4) || right(address, 4))) where status = 'succeeded';
create index refund_look on refund
  (merchant_id, network, lower(left(replace(address, '0x', ''), 4) || right(address, 4))) where status = 'succeeded';

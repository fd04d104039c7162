-- The search finds payments and payouts by their amount: newest first, of whichever currency.
set local lock_timeout = '5s';

-- In the order in which a submitted batch takes these tables.
create index payout_item_amount on payout_item (merchant_id, amount, batch_id);
create index payout_batch_amount on payout_batch (merchant_id, store_id, total_amount, currency, created_at);
create index payment_amount on payment (merchant_id, store_id, amount, currency, created_at);

-- The search finds payouts by a recipient, and payments by the wallet that sent them: newest first.
set local lock_timeout = '5s';

-- In the order in which a submitted batch takes these tables.
create index payout_item_address on payout_item (merchant_id, address, batch_id);
create index payment_transaction_sender on payment_transaction (merchant_id, sender, payment_id);

-- Support finds a payment by the address that its payer writes from.
set local lock_timeout = '5s';

create index payment_payer_email on payment (merchant_id, store_id, lower(payer_email), created_at) where payer_email is not null;

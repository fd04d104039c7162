-- Each run of a sweep asks for lost deposits, of which there are hardly ever any.
create index payment_transaction_lost on payment_transaction (merchant_id, network) where lost_at is not null;

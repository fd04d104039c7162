-- Support finds a customer by the address that they write from.
set local lock_timeout = '5s';

create index customer_email on customer (merchant_id, lower(email), created_at, customer_id) where email is not null;

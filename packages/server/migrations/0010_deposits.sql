-- Reading networks for deposits costs what happens, not how many addresses there are.
set local lock_timeout = '5s';

-- When an option was last given an address or a transfer was last read, in seconds of the merchant's clock: the longer
-- ago, the more rarely the network is looked at.
alter table deposit_cursor add column news_at bigint not null default 0;

-- Payments that somebody may be paying.
create index payment_payable on payment (merchant_id, expires_at)
  where status in ('pending', 'processing', 'frozen') and chosen_network is not null;

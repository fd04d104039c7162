-- Money counts at the quote in whose time it was sent, also where the page has shown a newer one before it was seen; and
-- what was dust for the amount that was asked then stays dust when an invoice asks for less.
set local lock_timeout = '5s';

alter table payment_option
  -- Null: made before this was recorded.
  add column quoted_at bigint,
  add column earlier_quotes jsonb not null default '[]';

alter table payment
  add column earlier_amounts jsonb not null default '[]';

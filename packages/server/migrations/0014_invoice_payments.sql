-- Payments of invoices: pages that live as long as their invoice is open, and charges of payers' wallets.
set local lock_timeout = '5s';

alter table payment
  -- The invoice that it pays.
  add column invoice_id uuid,
  -- When that invoice was paid by another payment or void: what comes from then on only lies there.
  add column closed_at bigint;

-- The period that the page of an invoice pays for.
alter table checkout_session
  add column period_start bigint,
  add column period_end bigint;

-- Null where nobody may pay by hand: the wallet of the merchant into which a charge is pulled.
alter table payment_option alter column watch drop not null;

-- Pulled by a charge into the merchant's own wallet: no sweep moves it, and no scan of addresses finds it.
alter table payment_transaction add column pulled boolean not null default false;

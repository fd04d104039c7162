-- Where the gas tank pays for all transactions: which of them still take coins of it, and what a merchant's payments put
-- into accounts of recipients.
set local lock_timeout = '5s';

alter table transfer_attempt
  -- The gas tank's address; null where the sender pays its own fees.
  add column fee_payer text,
  -- What it costs to open accounts of recipients that had none when it was reserved.
  add column openings numeric(39) check (openings >= 0);

create index transfer_attempt_fee_payer on transfer_attempt (network, fee_payer)
  where fee_payer is not null and status in ('reserved', 'signed', 'sent');
create index transfer_attempt_openings on transfer_attempt (merchant_id, network, completed_at) where openings > 0;

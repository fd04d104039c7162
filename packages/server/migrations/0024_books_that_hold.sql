-- What the code keeps true of money is held by the database too. Data that breaks one of these stops the migration and
-- is named by it: a person has to look before anything goes on.
set local lock_timeout = '5s';

-- An invoice is paid once: page and mandate exclude each other, and a closed page never completes.
create unique index payment_invoice_completed on payment (merchant_id, invoice_id)
  where status = 'completed' and invoice_id is not null;

alter table payment
  -- All that came and was not refunded is undecided until the payment is completed, and available from then on.
  add constraint payment_held check (held_amount =
    case when status = 'completed' then 0 else received_amount - refunded_amount - refunding_amount end);

alter table payment_transaction
  -- Money of a wrong token stays undecided until it is accepted or refunded; all other money is its payment's.
  add constraint payment_transaction_held check (held_amount =
    case when kind = 'wrong_token' and status = 'final' and decision is distinct from 'accepted'
      then amount - refunded_amount - refunding_amount else 0 end),
  add constraint payment_transaction_refunds check (
    (kind = 'wrong_token' and status = 'final') or (refunded_amount = 0 and refunding_amount = 0)),
  -- Only what was credited can be swept or lost.
  add constraint payment_transaction_final_marks check (
    status = 'final' or (sweep_id is null and lost_at is null));

-- An address is one option's, so that what arrives there has one payment.
create unique index payment_option_watch on payment_option (merchant_id, network, watch) where watch is not null;

alter table payout_batch
  add constraint payout_batch_frozen check (frozen_amount >= 0
    and (frozen_amount = 0 or status in ('pending_approval', 'pending', 'processing')));

alter table payout_item
  add constraint payout_item_fee check (service_fee_amount >= 0);
create unique index payout_item_id on payout_item (merchant_id, item_id);

-- An item is settled or released once. What happens to it later (a payment that is lost and made again) is booked under
-- causes of other types.
create unique index ledger_entry_payout_item on ledger_entry (merchant_id, cause_id, debit, credit)
  where cause_type = 'payout_item';

alter table transfer
  add constraint transfer_over check ((status in ('succeeded', 'failed')) = (completed_at is not null)),
  add constraint transfer_sending check ((status = 'sending') = (attempt_id is not null)),
  add constraint transfer_failure check ((status = 'failed') = (failure_code is not null));

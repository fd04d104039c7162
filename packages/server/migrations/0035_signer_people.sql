-- How many signatures the signer of live money wants of a batch or refund, as read when it was submitted or addressed; null
-- where no signer asks. What went out without them counts to a limit of the signer for all merchants together.
set local lock_timeout = '5s';

alter table payout_batch add column required_signatures integer;
alter table payout_batch add constraint payout_batch_required_signatures
  check (required_signatures between 0 and required_approvals);
create index payout_batch_unsigned on payout_batch (status) include (requested_amount)
  where required_signatures = 0 and status in ('pending_approval', 'pending', 'processing');

alter table refund add column required_signatures integer;
alter table refund add constraint refund_required_signatures
  check (required_signatures between 0 and required_approvals);
create index refund_unsigned on refund (status) include (amount)
  where required_signatures = 0 and status in ('pending', 'processing');

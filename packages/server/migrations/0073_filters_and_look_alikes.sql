-- The audit log is filtered by who, what and when; jobs that fail are few; and of a recipient who was paid often, or who looks
-- like many, only what is needed is read.
set local lock_timeout = '5s';

-- In the order in which a submitted batch takes these tables, and those first that are read while it waits.
drop index payout_item_look;
create index payout_item_look on payout_item
  (merchant_id, network, lower(left(replace(address, '0x', ''), 4) || right(address, 4)), address, batch_id)
  where status = 'succeeded';
drop index refund_look;
create index refund_look on refund
  (merchant_id, network, lower(left(replace(address, '0x', ''), 4) || right(address, 4)), address, required_approvals)
  where status = 'succeeded';

create index job_failing on job (attempts desc, job_id) where attempts > 0;

create index audit_entry_actor on audit_entry (merchant_id, actor, number);
create index audit_entry_action on audit_entry (merchant_id, action, number);
create index audit_entry_at on audit_entry (merchant_id, at_ms);

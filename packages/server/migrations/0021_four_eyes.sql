-- What goes out unapproved in 24 hours is bounded, refunds are approved too, and whoever drew a payment up approves it never.
set local lock_timeout = '5s';

-- Whether a payout or a refund needs approval is decided under this lock, so that those that come at once see each other.
create table approval_lock (
  merchant_id uuid not null,
  kind text not null check (kind in ('payouts', 'refunds')),
  primary key (merchant_id, kind)
);
select app.shard('approval_lock');

-- Owners of all keys that created, edited or submitted a batch. Who edited an open batch before is not known.
alter table payout_batch add column owners uuid[] not null default '{}';
update payout_batch b set owners = array_remove(array[b.submitted_by_owner, k.owner_approver_id], null)
from api_key k
where k.merchant_id = b.merchant_id and k.key_id = b.key_id
  and b.status in ('draft', 'needs_fix', 'pending_approval');
alter table payout_batch drop column submitted_by_owner;

-- What was submitted without approval, by its time.
create index payout_batch_unapproved on payout_batch (merchant_id, submitted_at) include (requested_amount, status)
  where required_approvals = 0 and submitted_at is not null;

-- Keys had `write` for refunds before these had a scope of their own.
update api_key set scopes = array_append(scopes, 'refunds')
where 'write' = any (scopes) and not 'refunds' = any (scopes);

alter table refund
  -- Owner of the key that created it.
  add column created_by_owner uuid,
  -- When its address became known: whether it needs approval is decided then.
  add column addressed_at bigint,
  -- 0: none.
  add column required_approvals integer not null default 0 check (required_approvals >= 0),
  -- What approvers bind themselves to: SHA-256 over amount and address.
  add column approval_digest bytea,
  -- When enough had approved it.
  add column approved_at bigint,
  add constraint refund_approval_digest check ((approval_digest is not null) = (required_approvals > 0)),
  add constraint refund_approved_as_required check (approved_at is null or required_approvals > 0),
  add constraint refund_approval_of_address check (required_approvals = 0 or address is not null),
  -- Nothing that needs approval is sent without it.
  add constraint refund_sent_as_approved
    check (status in ('pending', 'canceled') or required_approvals = 0 or approved_at is not null);
update refund set addressed_at = created_at
where address is not null and status in ('pending', 'processing', 'succeeded');

-- What is refunded without approval, by the time from which that counts.
create index refund_unapproved on refund (merchant_id, addressed_at) include (amount, status)
  where required_approvals = 0 and addressed_at is not null;

-- Names of approvers that look alike have the same skeleton. Those from before may do so: they stay, and have none here.
alter table approver add column skeleton text;
create unique index approver_skeleton on approver (merchant_id, skeleton);

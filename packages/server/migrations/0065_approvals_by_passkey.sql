-- Approvals by passkey are kept whole, and each names who gave it: what somebody signed counts while they are an approver.
set local lock_timeout = '5s';

alter table signed_approval
  -- Null: from before, under a name that no approver has; whoever it was signs again.
  add column approver_id uuid,
  add column decision text not null default 'approve' check (decision in ('approve', 'reject')),
  -- By which it was checked: hex.
  add column public_key text,
  -- Of a passkey: which one, and what it has signed.
  add column credential_id bytea,
  add column authenticator_data bytea,
  add column client_data_json bytea,
  add constraint signed_approval_passkey check (num_nonnulls(credential_id, authenticator_data, client_data_json) in (0, 3));

update signed_approval s set approver_id = a.approver_id, public_key = a.public_key
from approver a where a.merchant_id = s.merchant_id and a.name = s.approver;

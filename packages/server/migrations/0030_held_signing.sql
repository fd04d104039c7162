-- A signer may want people to act before it signs. What waits for them must not block the other transactions of its wallet.
set local lock_timeout = '5s';

-- A group whose sequence went to others while it waited: it takes no new one before that time, or before it is released.
create table transfer_hold (
  merchant_id uuid not null,
  group_id uuid not null,
  reason text not null,
  held_at bigint not null,
  -- Seconds of the merchant's clock.
  until bigint not null check (until >= held_at),
  primary key (merchant_id, group_id)
);
select app.shard('transfer_hold');

-- Approvers' signatures over the statement of a payout batch or refund. The signer checks them; here they are only kept.
create table signed_approval (
  merchant_id uuid not null,
  kind text not null check (kind in ('payout', 'refund')),
  -- The batch or refund.
  owner_id uuid not null,
  approver text not null,
  -- SHA-256 of the statement that was signed.
  statement_digest bytea not null check (length(statement_digest) = 32),
  -- Unix seconds.
  valid_until bigint not null,
  signature text not null,
  created_at bigint not null,
  primary key (merchant_id, kind, owner_id, approver)
);
select app.shard('signed_approval');

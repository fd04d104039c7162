-- A payer's signed mandate is brought to networks with real money by movements of ours, in a group of its own.
set local lock_timeout = '5s';

create table mandate_activation (
  merchant_id uuid not null,
  -- The group of its movements, and the payment method that it is for.
  activation_id uuid not null,
  network text not null,
  currency text not null,
  mandate_id text not null,
  mandate jsonb not null,
  signature text not null,
  status text not null check (status in ('open', 'active', 'failed')),
  fault text,
  created_at bigint not null,
  completed_at bigint,
  primary key (merchant_id, activation_id),
  constraint mandate_activation_once unique (merchant_id, network, mandate_id),
  constraint mandate_activation_fault check ((fault is not null) = (status = 'failed')),
  constraint mandate_activation_completed check ((completed_at is null) = (status = 'open'))
);
select app.shard_by('mandate_activation', 'merchant_id');

-- When its mandate was in a final block; null while it is on its way there.
alter table payment_method add column activated_at bigint;
update payment_method set activated_at = created_at;

-- A live merchant's hot wallet is replaced: the number of the present one, and each rotation on its way there.
set local lock_timeout = '5s';

alter table chain_account add column epoch integer not null default 0 check (epoch >= 0);

create table wallet_rotation (
  merchant_id uuid not null,
  -- The group of its movements.
  rotation_id uuid not null,
  network text not null,
  -- Of the wallet that takes the place.
  epoch integer not null check (epoch > 0),
  status text not null check (status in ('closing', 'moving', 'done')),
  created_at bigint not null,
  switched_at bigint,
  completed_at bigint,
  primary key (merchant_id, rotation_id),
  constraint wallet_rotation_epoch unique (merchant_id, network, epoch),
  constraint wallet_rotation_switched check ((switched_at is null) = (status = 'closing')),
  constraint wallet_rotation_completed check ((completed_at is null) = (status <> 'done'))
);
-- The next one begins when this one is over.
create unique index wallet_rotation_open on wallet_rotation (merchant_id, network) where completed_at is null;
select app.shard_by('wallet_rotation', 'merchant_id');

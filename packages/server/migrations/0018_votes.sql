-- One table for everything that two registered people decide together; until now only seized coins were decided so.
set local lock_timeout = '5s';

create table vote (
  merchant_id uuid not null,
  -- What is decided, such as `payments.seizure`, and the very thing that it is decided of.
  action text not null,
  subject text not null,
  approver_id uuid not null,
  decision text not null,
  created_at bigint not null,
  primary key (merchant_id, action, subject, approver_id)
);
select app.shard('vote');

insert into vote (merchant_id, action, subject, approver_id, decision, created_at)
select merchant_id, 'payments.seizure', network || '/' || tx_id || ':' || index, approver_id, decision, created_at
from seizure_vote;
drop table seizure_vote;

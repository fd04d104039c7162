-- Why a refund that may be sent is not sent yet, as found at its last try; null where nothing is in its way.
set local lock_timeout = '5s';

alter table refund add column waiting_for text;
alter table refund add constraint refund_waiting_for check (
  waiting_for is null
  or waiting_for in ('merchant_suspended', 'network_not_enabled', 'network_paused', 'coins') and status = 'pending'
);

-- What waits while a merchant is suspended loses no time to it, and approvals of payouts are votes like all others.
set local lock_timeout = '5s';

-- When it was resumed last, by its own clock: a charge that was ordered before that is not sent.
alter table merchant add column resumed_at bigint;

-- Up to how much suspension of its merchant the end of a claim link is moved. Links that are out lose none from now on.
alter table refund add column suspended_seconds bigint not null default 0;
update refund r set suspended_seconds = m.suspended_seconds
from merchant m
where m.merchant_id = r.merchant_id and r.claim_ends_at is not null and m.suspended_seconds > 0;

insert into vote (merchant_id, action, subject, approver_id, decision, created_at)
select merchant_id, 'payouts.approval', batch_id || ' ' || encode(items_digest, 'hex'), approver_id, decision, created_at
from payout_approval;
drop table payout_approval;

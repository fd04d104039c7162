-- What waits while a merchant is suspended loses no time to it.
set local lock_timeout = '5s';

-- When it was resumed last, by its own clock: a charge that was ordered before that is not sent.
alter table merchant add column resumed_at bigint;

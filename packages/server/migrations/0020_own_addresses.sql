-- Nobody is paid at an address that this merchant gives to its own payers: every recipient is looked up among those. An
-- address is given out once, so the index says that too.
set local lock_timeout = '5s';

create unique index payment_option_address on payment_option (merchant_id, network, address) where watch is not null;

-- What the gas tank has given a merchant's wallets in a day is summed under the tank's lock, which all merchants share.
set local lock_timeout = '5s';

create index transfer_attempt_top_ups on transfer_attempt (merchant_id, network, completed_at)
  where key_ref = 'tank' and movement ->> 'kind' = 'gas';

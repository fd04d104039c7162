-- Where wallets have no sequence, what the gas tank has paid in the newest final blocks is summed under its lock.
set local lock_timeout = '5s';

create index transfer_attempt_tank_height on transfer_attempt (network, sender, height)
  where key_ref = 'tank' and height is not null;

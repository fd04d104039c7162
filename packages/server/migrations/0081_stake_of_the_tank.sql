-- What the gas tank has staked on Tron pays for sweeps: operators see it fall before sweeps burn TRX instead.
set local lock_timeout = '5s';

-- What it can lend, and what of its stake others have; null where it has none.
alter table gas_tank add column stake_free numeric(39,0), add column stake_lent numeric(39,0);
alter table gas_tank add constraint gas_tank_stake_check
  check ((stake_free is null) = (stake_lent is null) and stake_free >= 0 and stake_lent >= 0);

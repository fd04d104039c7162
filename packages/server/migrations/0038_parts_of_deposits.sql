-- The parts of one deposit: a lost one's go to the deposits whose coins its sweeps took.
create index sweep_part_deposit on sweep_part (merchant_id, network, tx_id, index);

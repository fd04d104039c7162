-- A block that was replaced and the one that took its height are both recorded until the audit has read the new blocks.
alter table final_block drop constraint final_block_pkey, add primary key (merchant_id, network, height, hash);

-- For the operators' list of undecided seized transfers, which has those of all merchants by age.
set local lock_timeout = '5s';

create index payment_transaction_undecided on payment_transaction (final_at, merchant_id, network, tx_id, index)
  where kind = 'seized' and status = 'final' and decision is null;

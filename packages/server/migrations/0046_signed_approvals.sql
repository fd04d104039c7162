-- An approval that the payer has signed (EIP-2612) is brought to the network with the mandate.
set local lock_timeout = '5s';

alter table mandate_activation add column permit jsonb;

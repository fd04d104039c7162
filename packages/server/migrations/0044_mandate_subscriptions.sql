-- For how many subscriptions the payer has signed a mandate, where its network counts them.
alter table payment_method add column subscriptions integer check (subscriptions between 1 and 65535);

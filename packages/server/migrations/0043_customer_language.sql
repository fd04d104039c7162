-- In which language a customer reads the pages of subscriptions; mails about them are in it.
alter table customer add column payer_language text;

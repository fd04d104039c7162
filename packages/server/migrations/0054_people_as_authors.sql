-- People who are signed in create, edit and submit too: whoever drew a payment up approves it never, by key or by session.
set local lock_timeout = '5s';

-- The person of the console who an approver is. One person is one approver of a merchant.
alter table approver add column user_id uuid;
create unique index approver_user on approver (merchant_id, user_id);

alter table payout_batch
  -- Null: a person created it.
  alter column key_id drop not null,
  -- People who created, edited or submitted it by their session.
  add column authors uuid[] not null default '{}',
  add constraint payout_batch_created_by check (key_id is not null or cardinality(authors) > 0);

-- The person who created it by their session.
alter table refund add column created_by_user uuid;

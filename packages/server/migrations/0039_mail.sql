-- Mails: each is made in the transaction of its cause, once for each cause and recipient, and sent by a job.
set local lock_timeout = '5s';

create table mail (
  merchant_id uuid not null,
  mail_id uuid not null,
  kind text not null,
  -- With kind and recipient the key: the same cause never makes a mail twice.
  cause text not null,
  about text not null,
  recipient text not null check (length(recipient) <= 254),
  language text not null,
  view jsonb not null,
  status text not null check (
    status in ('caught', 'pending', 'sending', 'sent', 'failed', 'unconfirmed', 'off')
  ),
  attempts integer not null default 0,
  error text,
  created_at bigint not null,
  ended_at bigint,
  primary key (merchant_id, mail_id),
  constraint mail_once unique (merchant_id, kind, cause, recipient),
  constraint mail_ended check ((ended_at is null) = (status in ('pending', 'sending', 'caught')))
);
create index mail_newest on mail (merchant_id, created_at desc, mail_id desc);
create index mail_about on mail (merchant_id, about, created_at desc, mail_id desc);

-- To whom a payment's receipt and refunds are mailed, and in which language its payer read the page.
alter table payment add column payer_email text;
alter table payment add column payer_language text;

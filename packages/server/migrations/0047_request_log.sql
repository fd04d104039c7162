-- Signed requests with their answers, for developers who ask why one was refused. Days are dropped whole by the time in
-- request_id (UUID version 7).
set local lock_timeout = '5s';

create table request_log (
  merchant_id uuid not null,
  -- Of a request id that this service made; of others an id of its own.
  request_id uuid not null,
  -- The request id, where its caller chose it.
  callers_id text,
  store_id uuid not null,
  key_id uuid not null,
  -- Its signature was right and its nonce new: the key's owner sent it.
  is_verified boolean not null,
  method text not null,
  -- The template of its path; 'unmatched' for an unknown path.
  route text not null,
  path text not null,
  query text not null,
  status smallint not null,
  duration_us integer not null,
  error_code text,
  -- Which check of the signature failed.
  refusal text check (refusal in ('headers', 'signature', 'timestamp', 'ended', 'nonce')),
  remote_address text not null,
  -- Lines of `name: value` and the bodies, without secrets; null: there was none, or it is not recorded.
  request_headers text not null,
  request_body text,
  request_bytes integer not null,
  answer_body text,
  answer_bytes integer not null,
  -- Of a refused signature: what was signed by the rules, and which step differs.
  explanation jsonb,
  primary key (merchant_id, request_id)
) partition by range (request_id);
create table request_log_default partition of request_log default;
-- Compressing a large body takes PostgreSQL longer than all else that a row costs.
alter table request_log
  alter column request_body set storage external,
  alter column answer_body set storage external;
select app.shard('request_log');
create index request_log_failed on request_log (merchant_id, request_id desc) where status >= 400;
create index request_log_callers_id on request_log (merchant_id, callers_id) where callers_id is not null;

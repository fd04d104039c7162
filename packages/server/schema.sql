-- What the migrations make, read back from the catalog of a database: for people to read and for reviews to see.
-- Written by: node scripts/run.js scripts/schema.ts. A test compares it with the migrations.

CREATE OR REPLACE FUNCTION app.has_citus()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ select exists (select from pg_extension where extname = 'citus') $function$;

CREATE OR REPLACE FUNCTION app.replicate(name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_reference_table(%L)', name);
end $function$;

CREATE OR REPLACE FUNCTION app.shard(name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_distributed_table(%L, ''merchant_id'', colocate_with => %L)', name,
                 case when name = 'merchant' then 'default' else 'merchant' end);
end $function$;

CREATE OR REPLACE FUNCTION app.shard_by(name text, shard_column text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_distributed_table(%L, %L, colocate_with => ''none'')', name, shard_column);
end $function$;

CREATE OR REPLACE FUNCTION simchain.shard(name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from pg_extension where extname = 'citus') then return; end if;
  execute format('select create_distributed_table(%L, ''merchant_id'', colocate_with => %L)', name,
                 case when name = 'simchain.chain' then 'none' else 'simchain.chain' end);
end $function$;

create table public.api_key (
  merchant_id uuid not null,
  key_id uuid not null,
  store_id uuid not null,
  name text not null,
  digest bytea not null,
  last_four text not null,
  scopes text[] not null,
  owner_approver_id uuid,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until_ms bigint,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  created_at bigint not null,
  previous_secret_signs boolean not null default true,
  holders uuid[] not null default '{}'::uuid[],
  last_used_at_ms bigint,
  constraint api_key_pkey PRIMARY KEY (merchant_id, key_id),
  constraint api_key_merchant_id_digest_key UNIQUE (merchant_id, digest)
);

create table public.approval_lock (
  merchant_id uuid not null,
  kind text not null,
  constraint approval_lock_pkey PRIMARY KEY (merchant_id, kind),
  constraint approval_lock_kind_check CHECK ((kind = ANY (ARRAY['payouts'::text, 'refunds'::text])))
);

create table public.approver (
  merchant_id uuid not null,
  approver_id uuid not null,
  name text not null,
  token_digest bytea not null,
  removed_at bigint,
  created_at bigint not null,
  skeleton text,
  public_key text,
  user_id uuid,
  from_console boolean not null default false,
  constraint approver_pkey PRIMARY KEY (merchant_id, approver_id),
  constraint approver_public_key_check CHECK ((public_key ~ '^0x([0-9a-f]{64}|[0-9a-fA-F]{40})$'::text))
);
CREATE UNIQUE INDEX approver_name ON public.approver USING btree (merchant_id, name) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX approver_public_key ON public.approver USING btree (merchant_id, lower(public_key)) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX approver_skeleton ON public.approver USING btree (merchant_id, skeleton);
CREATE UNIQUE INDEX approver_user ON public.approver USING btree (merchant_id, user_id);

create table public.audit_entry (
  merchant_id uuid not null,
  number bigint not null,
  at_ms bigint not null,
  actor_kind text not null,
  actor text not null,
  origin text not null,
  action text not null,
  phase text not null,
  attempt bigint,
  request_id text,
  details text not null,
  previous_hash bytea not null,
  hash bytea not null,
  seal bytea not null,
  constraint audit_entry_pkey PRIMARY KEY (merchant_id, number),
  constraint audit_entry_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['user'::text, 'key'::text, 'cli'::text]))),
  constraint audit_entry_number_check CHECK ((number > 0)),
  constraint audit_entry_phase_check CHECK ((phase = ANY (ARRAY['attempted'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX audit_entry_action ON public.audit_entry USING btree (merchant_id, action, number);
CREATE INDEX audit_entry_actor ON public.audit_entry USING btree (merchant_id, actor, number);
CREATE INDEX audit_entry_at ON public.audit_entry USING btree (merchant_id, at_ms);

create table public.audit_head (
  merchant_id uuid not null,
  number bigint not null,
  hash bytea not null,
  constraint audit_head_pkey PRIMARY KEY (merchant_id)
);

create table public.chain_account (
  network text not null,
  account integer not null,
  merchant_id uuid not null,
  extended_public_key text,
  created_at bigint not null,
  begins_at bigint,
  epoch integer not null default 0,
  cold_owner text,
  constraint chain_account_pkey PRIMARY KEY (network, account),
  constraint chain_account_key UNIQUE (network, extended_public_key),
  constraint chain_account_merchant UNIQUE (network, merchant_id),
  constraint chain_account_account_check CHECK ((account >= 0)),
  constraint chain_account_begins_at_check CHECK ((begins_at >= 0)),
  constraint chain_account_cold_owner_check CHECK ((cold_owner ~ '^0x[0-9a-fA-F]{40}$'::text)),
  constraint chain_account_epoch_check CHECK ((epoch >= 0)),
  constraint chain_account_known CHECK (((extended_public_key IS NULL) = (begins_at IS NULL))) NOT VALID
);

create table public.checkout_session (
  merchant_id uuid not null,
  session_id uuid not null,
  store_id uuid not null,
  payment_id uuid not null,
  page_token text not null,
  order_id text,
  description text,
  customer_email text,
  success_url text,
  cancel_url text,
  options jsonb not null,
  created_at bigint not null,
  period_start bigint,
  period_end bigint,
  constraint checkout_session_pkey PRIMARY KEY (merchant_id, session_id)
);

create table public.console_attempt (
  subject bytea not null,
  times_ms bigint[] not null,
  last_at_ms bigint not null,
  constraint console_attempt_pkey PRIMARY KEY (subject)
);
CREATE INDEX console_attempt_last ON public.console_attempt USING btree (last_at_ms);

create table public.console_challenge (
  digest bytea not null,
  expires_at_ms bigint not null,
  constraint console_challenge_pkey PRIMARY KEY (digest)
);

create table public.console_link (
  digest bytea not null,
  user_id uuid not null,
  kind text not null,
  merchant_id uuid,
  role text,
  made_by uuid,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  used_at_ms bigint,
  constraint console_link_pkey PRIMARY KEY (digest),
  constraint console_link_kind_check CHECK ((kind = ANY (ARRAY['invitation'::text, 'sign_in'::text])))
);
CREATE INDEX console_link_of_user ON public.console_link USING btree (user_id);

create table public.console_membership (
  merchant_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at_ms bigint not null,
  constraint console_membership_pkey PRIMARY KEY (merchant_id, user_id)
);
CREATE INDEX console_membership_of_user ON public.console_membership USING btree (user_id);

create table public.console_passkey (
  credential_id bytea not null,
  user_id uuid not null,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  created_at_ms bigint not null,
  used_at_ms bigint,
  constraint console_passkey_pkey PRIMARY KEY (credential_id)
);
CREATE INDEX console_passkey_of_user ON public.console_passkey USING btree (user_id);
CREATE UNIQUE INDEX console_passkey_public_key ON public.console_passkey USING btree (public_key);

create table public.console_recovery_code (
  user_id uuid not null,
  digest bytea not null,
  used_at_ms bigint,
  constraint console_recovery_code_pkey PRIMARY KEY (user_id, digest)
);

create table public.console_role (
  merchant_id uuid not null,
  name text not null,
  permissions text[] not null,
  created_at_ms bigint not null,
  constraint console_role_pkey PRIMARY KEY (merchant_id, name),
  constraint console_role_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{1,31}$'::text))
);

create table public.console_session (
  session_id uuid not null,
  digest bytea not null,
  user_id uuid not null,
  created_at_ms bigint not null,
  seen_at_ms bigint not null,
  proved_at_ms bigint not null,
  has_second_factor boolean not null,
  remote_address text not null,
  user_agent text not null,
  ended_at_ms bigint,
  constraint console_session_pkey PRIMARY KEY (session_id),
  constraint console_session_digest_key UNIQUE (digest)
);
CREATE INDEX console_session_of_user ON public.console_session USING btree (user_id);

create table public.console_user (
  user_id uuid not null,
  email text not null,
  created_at_ms bigint not null,
  password_hash text,
  installation_role text,
  totp_secret bytea,
  totp_confirmed boolean not null default false,
  totp_used_step bigint not null default 0,
  constraint console_user_pkey PRIMARY KEY (user_id),
  constraint console_user_email_key UNIQUE (email),
  constraint console_user_installation_role_check CHECK ((installation_role = ANY (ARRAY['operator'::text, 'auditor'::text])))
);

create table public.customer (
  merchant_id uuid not null,
  customer_id uuid not null,
  external_customer_id text not null,
  email text,
  name text,
  phone text,
  description text,
  created_at bigint not null,
  payer_language text,
  constraint customer_pkey PRIMARY KEY (merchant_id, customer_id),
  constraint customer_merchant_id_external_customer_id_key UNIQUE (merchant_id, external_customer_id)
);
CREATE INDEX customer_email ON public.customer USING btree (merchant_id, lower(email), created_at, customer_id) WHERE (email IS NOT NULL);
CREATE INDEX customer_list ON public.customer USING btree (merchant_id, created_at, customer_id);

create table public.data_key (
  data_key_id uuid not null,
  wrapped bytea not null,
  created_at_ms bigint not null,
  constraint data_key_pkey PRIMARY KEY (data_key_id)
);

create table public.delivery (
  merchant_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  store_id uuid not null,
  event_type text not null,
  number bigint not null,
  status text not null,
  series_attempts smallint not null default 0,
  due_at bigint not null,
  attempts jsonb not null default '[]'::jsonb,
  event_created_at bigint not null,
  created_at bigint not null,
  constraint delivery_pkey PRIMARY KEY (merchant_id, event_id, endpoint_id),
  constraint delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'exhausted'::text, 'paused'::text])))
) partition by RANGE (event_id);
CREATE INDEX delivery_endpoint ON ONLY public.delivery USING btree (merchant_id, endpoint_id, delivery_id DESC);
CREATE INDEX delivery_first_try ON ONLY public.delivery USING btree (merchant_id, endpoint_id, number) WHERE ((status = 'pending'::text) AND (series_attempts = 0));
CREATE INDEX delivery_halted ON ONLY public.delivery USING btree (merchant_id, endpoint_id, status, event_id) WHERE (status = ANY (ARRAY['paused'::text, 'failed'::text, 'exhausted'::text]));
CREATE INDEX delivery_retry ON ONLY public.delivery USING btree (merchant_id, endpoint_id, due_at, number) WHERE ((status = 'pending'::text) AND (series_attempts > 0));
CREATE INDEX delivery_store ON ONLY public.delivery USING btree (merchant_id, store_id, delivery_id DESC);
CREATE INDEX delivery_undelivered ON ONLY public.delivery USING btree (merchant_id, store_id, status, delivery_id DESC) WHERE (status <> 'delivered'::text);

create table public.deposit_address (
  merchant_id uuid not null,
  network text not null,
  watch text not null,
  payment_id uuid not null,
  currency text not null,
  address_index bigint not null,
  constraint deposit_address_pkey PRIMARY KEY (merchant_id, network, watch),
  constraint deposit_address_merchant_id_network_address_index_key UNIQUE (merchant_id, network, address_index)
);

create table public.deposit_cursor (
  merchant_id uuid not null,
  network text not null,
  next_address_index bigint not null default 0,
  cursor text,
  read_at bigint not null default 0,
  height bigint not null default 0,
  news_at bigint not null default 0,
  constraint deposit_cursor_pkey PRIMARY KEY (merchant_id, network)
);

create table public.deposit_owner (
  network text not null,
  watch text not null,
  merchant_id uuid not null,
  address_index bigint not null,
  constraint deposit_owner_pkey PRIMARY KEY (watch, network),
  constraint deposit_owner_address_index_check CHECK ((address_index >= 0))
);

create table public.deposit_pool (
  merchant_id uuid not null,
  network text not null,
  filled_to bigint not null default 0,
  constraint deposit_pool_pkey PRIMARY KEY (merchant_id, network),
  constraint deposit_pool_filled_to_check CHECK ((filled_to >= 0))
);

create table public.deposit_pool_address (
  merchant_id uuid not null,
  network text not null,
  address_index bigint not null,
  address text not null,
  watch text not null,
  constraint deposit_pool_address_pkey PRIMARY KEY (merchant_id, network, address_index),
  constraint deposit_pool_address_merchant_id_network_watch_key UNIQUE (merchant_id, network, watch),
  constraint deposit_pool_address_address_index_check CHECK ((address_index >= 0))
);

create table public.early_credit (
  merchant_id uuid not null,
  store_id uuid not null,
  hour bigint not null,
  amount bigint not null,
  constraint early_credit_pkey PRIMARY KEY (merchant_id, store_id, hour),
  constraint early_credit_amount_check CHECK ((amount > 0))
);

create table public.event (
  merchant_id uuid not null,
  event_id uuid not null,
  store_id uuid not null,
  type text not null,
  resource text not null,
  sequence bigint not null,
  number bigint,
  body text not null,
  created_at bigint not null,
  recorded_at_ms bigint not null,
  constraint event_pkey PRIMARY KEY (merchant_id, event_id)
) partition by RANGE (event_id);
CREATE INDEX event_order ON ONLY public.event USING btree (merchant_id, store_id, created_at DESC, event_id DESC);
CREATE INDEX event_resource ON ONLY public.event USING btree (merchant_id, resource, event_id DESC);
CREATE INDEX event_stream ON ONLY public.event USING btree (merchant_id, store_id, number);
CREATE INDEX event_type ON ONLY public.event USING btree (merchant_id, store_id, type, created_at DESC, event_id DESC);

create table public.event_sequence (
  merchant_id uuid not null,
  resource text not null,
  sequence bigint not null,
  constraint event_sequence_pkey PRIMARY KEY (merchant_id, resource)
);

create table public.event_stream_end (
  merchant_id uuid not null,
  store_id uuid not null,
  number bigint not null,
  constraint event_stream_end_pkey PRIMARY KEY (merchant_id, store_id)
);

create table public.final_block (
  merchant_id uuid not null,
  network text not null,
  height bigint not null,
  hash text not null,
  replaced_at bigint,
  constraint final_block_pkey PRIMARY KEY (merchant_id, network, height, hash)
);

create table public.gas_tank (
  network text not null,
  sender text not null,
  native numeric(39,0) not null,
  read_at bigint not null,
  stake_free numeric(39,0),
  stake_lent numeric(39,0),
  constraint gas_tank_pkey PRIMARY KEY (network),
  constraint gas_tank_native_check CHECK ((native >= (0)::numeric)),
  constraint gas_tank_stake_check CHECK ((((stake_free IS NULL) = (stake_lent IS NULL)) AND (stake_free >= (0)::numeric) AND (stake_lent >= (0)::numeric)))
);

create table public.idempotency_key (
  merchant_id uuid not null,
  operation text not null,
  key text not null,
  digest bytea not null,
  store_id uuid not null,
  resource_id uuid not null,
  created_at bigint not null,
  constraint idempotency_key_pkey PRIMARY KEY (merchant_id, operation, key)
);

create table public.invoice (
  merchant_id uuid not null,
  invoice_id uuid not null,
  store_id uuid not null,
  subscription_id uuid not null,
  customer_id uuid not null,
  customer text not null,
  amount_due bigint not null,
  currency text not null,
  status text not null,
  payment_status text not null,
  billing_reason text not null,
  "interval" text not null,
  period_start bigint not null,
  period_end bigint not null,
  skipped boolean not null default false,
  session_id uuid,
  charge_payment_id uuid,
  live_attempt uuid,
  tries integer not null default 0,
  next_try_at bigint,
  charges_ended boolean not null default false,
  due_date bigint not null,
  paid_at bigint,
  created_at bigint not null,
  page_payment_id uuid,
  attempt_at bigint,
  charge_method_id uuid,
  charge_window_start bigint,
  charge_amount bigint,
  overdue_from bigint,
  dunning_days_spent integer not null default 0,
  credit_applied_amount bigint not null default 0,
  credited_amount bigint not null default 0,
  reduction_amount bigint not null default 0,
  suspended_seconds bigint not null default 0,
  constraint invoice_pkey PRIMARY KEY (merchant_id, invoice_id),
  constraint invoice_amount_due_check CHECK ((amount_due >= 0)),
  constraint invoice_billing_reason_check CHECK ((billing_reason = ANY (ARRAY['subscription_create'::text, 'subscription_cycle'::text, 'subscription_update'::text]))),
  constraint invoice_check CHECK ((period_end >= period_start)),
  constraint invoice_check1 CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
  constraint invoice_check2 CHECK (
CASE status
    WHEN 'open'::text THEN (payment_status = ANY (ARRAY['pending'::text, 'processing'::text, 'failed'::text]))
    WHEN 'paid'::text THEN (payment_status = 'completed'::text)
    ELSE (payment_status = ANY (ARRAY['canceled'::text, 'expired'::text]))
END),
  constraint invoice_check3 CHECK (((status = 'open'::text) OR (live_attempt IS NULL))),
  constraint invoice_check4 CHECK (((charge_method_id IS NULL) = (charge_window_start IS NULL))),
  constraint invoice_check5 CHECK (((charge_method_id IS NULL) = (charge_amount IS NULL))),
  constraint invoice_check6 CHECK (((status = 'open'::text) OR (next_try_at IS NULL))),
  constraint invoice_credit_applied_amount_check CHECK ((credit_applied_amount >= 0)),
  constraint invoice_credited_of_paid CHECK (((credited_amount >= 0) AND (credited_amount <=
CASE status
    WHEN 'paid'::text THEN amount_due
    ELSE (0)::bigint
END))),
  constraint invoice_dunning_days_spent_check CHECK ((dunning_days_spent >= 0)),
  constraint invoice_interval_check CHECK (("interval" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint invoice_payment_status_check CHECK ((payment_status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'canceled'::text, 'expired'::text]))),
  constraint invoice_reduction_of_open CHECK (((reduction_amount >= 0) AND (reduction_amount <=
CASE status
    WHEN 'open'::text THEN amount_due
    ELSE (0)::bigint
END))),
  constraint invoice_status_check CHECK ((status = ANY (ARRAY['open'::text, 'paid'::text, 'void'::text]))),
  constraint invoice_tries_check CHECK ((tries >= 0))
);
CREATE INDEX invoice_cap_use ON public.invoice USING btree (merchant_id, subscription_id, charge_method_id, charge_window_start) WHERE (charge_method_id IS NOT NULL);
CREATE INDEX invoice_customer ON public.invoice USING btree (merchant_id, store_id, customer_id, created_at, invoice_id);
CREATE INDEX invoice_customer_status ON public.invoice USING btree (merchant_id, store_id, customer_id, status, created_at, invoice_id);
CREATE INDEX invoice_list ON public.invoice USING btree (merchant_id, store_id, created_at, invoice_id);
CREATE INDEX invoice_open ON public.invoice USING btree (merchant_id, subscription_id) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX invoice_period_once ON public.invoice USING btree (merchant_id, subscription_id, period_start) WHERE (billing_reason = ANY (ARRAY['subscription_create'::text, 'subscription_cycle'::text]));
CREATE INDEX invoice_status ON public.invoice USING btree (merchant_id, store_id, status, created_at, invoice_id);
CREATE INDEX invoice_subscription ON public.invoice USING btree (merchant_id, subscription_id, created_at, invoice_id);

create table public.job (
  merchant_id uuid not null,
  job_id uuid not null,
  kind text not null,
  unique_key text not null,
  due_at_ms bigint not null,
  follows_clock boolean not null default false,
  payload jsonb not null default '{}'::jsonb,
  attempts integer not null default 0,
  last_error text,
  lease_until_ms bigint,
  lease_owner integer,
  fence bigint not null default 0,
  revision integer not null default 0,
  trace text,
  constraint job_pkey PRIMARY KEY (merchant_id, job_id),
  constraint job_merchant_id_kind_unique_key_key UNIQUE (merchant_id, kind, unique_key)
) with (fillfactor=40);
CREATE INDEX job_due ON public.job USING btree (due_at_ms, merchant_id);
CREATE INDEX job_failing ON public.job USING btree (attempts DESC, job_id) WHERE (attempts > 0);
CREATE INDEX job_next ON public.job USING btree (merchant_id, due_at_ms);

create table public.ledger_account (
  merchant_id uuid not null,
  account text not null,
  currency text not null,
  balance bigint not null default 0,
  floor bigint not null default 0,
  constraint ledger_account_pkey PRIMARY KEY (merchant_id, account, currency),
  constraint ledger_account_check CHECK ((balance >= floor))
);

create table public.ledger_entry (
  merchant_id uuid not null,
  entry_id uuid not null,
  journal_id uuid not null,
  debit text not null,
  credit text not null,
  currency text not null,
  network text,
  amount bigint not null,
  cause_type text not null,
  cause_id uuid not null,
  created_at bigint not null,
  constraint ledger_entry_pkey PRIMARY KEY (merchant_id, entry_id),
  constraint ledger_entry_amount_check CHECK ((amount > 0)),
  constraint ledger_entry_check CHECK ((debit <> credit))
);
CREATE INDEX ledger_entry_cause ON public.ledger_entry USING btree (merchant_id, cause_id, created_at DESC, entry_id DESC);
CREATE INDEX ledger_entry_order ON public.ledger_entry USING btree (merchant_id, created_at DESC, entry_id DESC);
CREATE UNIQUE INDEX ledger_entry_payout_item ON public.ledger_entry USING btree (merchant_id, cause_id, debit, credit) WHERE (cause_type = 'payout_item'::text);

create table public.live_network (
  network text not null,
  chain text not null,
  is_test boolean not null,
  constraint live_network_pkey PRIMARY KEY (network)
);

create table public.mail (
  merchant_id uuid not null,
  mail_id uuid not null,
  kind text not null,
  cause text not null,
  about text not null,
  recipient text not null,
  language text not null,
  view jsonb not null,
  status text not null,
  attempts integer not null default 0,
  error text,
  created_at bigint not null,
  ended_at bigint,
  constraint mail_pkey PRIMARY KEY (merchant_id, mail_id),
  constraint mail_once UNIQUE (merchant_id, kind, cause, recipient),
  constraint mail_ended CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['pending'::text, 'sending'::text, 'caught'::text])))),
  constraint mail_recipient_check CHECK ((length(recipient) <= 254)),
  constraint mail_status_check CHECK ((status = ANY (ARRAY['caught'::text, 'pending'::text, 'sending'::text, 'sent'::text, 'failed'::text, 'unconfirmed'::text, 'off'::text])))
);
CREATE INDEX mail_about ON public.mail USING btree (merchant_id, about, created_at DESC, mail_id DESC);
CREATE INDEX mail_newest ON public.mail USING btree (merchant_id, created_at DESC, mail_id DESC);

create table public.mandate_activation (
  merchant_id uuid not null,
  activation_id uuid not null,
  network text not null,
  currency text not null,
  mandate_id text not null,
  mandate jsonb not null,
  signature text not null,
  status text not null,
  fault text,
  created_at bigint not null,
  completed_at bigint,
  permit jsonb,
  unapproved_since bigint,
  charge_passed boolean not null default false,
  constraint mandate_activation_pkey PRIMARY KEY (merchant_id, activation_id),
  constraint mandate_activation_once UNIQUE (merchant_id, network, mandate_id),
  constraint mandate_activation_completed CHECK (((completed_at IS NULL) = (status = 'open'::text))),
  constraint mandate_activation_fault CHECK (((fault IS NOT NULL) = (status = 'failed'::text))),
  constraint mandate_activation_status_check CHECK ((status = ANY (ARRAY['open'::text, 'active'::text, 'failed'::text])))
);

create table public.merchant (
  merchant_id uuid not null,
  name text not null,
  mode text not null,
  status text not null default 'active'::text,
  clock_offset bigint not null default 0,
  created_at bigint not null,
  suspended_at bigint,
  suspended_seconds bigint not null default 0,
  resumed_at bigint,
  constraint merchant_pkey PRIMARY KEY (merchant_id),
  constraint merchant_clock_offset_check CHECK ((clock_offset >= 0)),
  constraint merchant_mode_check CHECK ((mode = ANY (ARRAY['sandbox'::text, 'live'::text]))),
  constraint merchant_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text]))),
  constraint merchant_suspended_seconds_check CHECK ((suspended_seconds >= 0)),
  constraint merchant_suspended_since CHECK (((status = 'suspended'::text) = (suspended_at IS NOT NULL)))
);

create table public.network_resume_request (
  merchant_id uuid not null,
  network text not null,
  request_id uuid not null,
  requested_by uuid not null,
  reason text not null,
  seen text not null,
  created_at_ms bigint not null,
  constraint network_resume_request_pkey PRIMARY KEY (merchant_id, network)
);

create table public.network_stop (
  merchant_id uuid not null,
  network text not null,
  reason text not null,
  stopped_at bigint not null,
  what text not null default 'sending'::text,
  height bigint,
  causes integer not null default 1,
  last_at bigint,
  constraint network_stop_pkey PRIMARY KEY (merchant_id, network, what),
  constraint network_stop_what_check CHECK ((what = ANY (ARRAY['sending'::text, 'early_credit'::text])))
);

create table public.nonce (
  merchant_id uuid not null,
  key_id uuid not null,
  nonce text not null,
  spent_at_ms bigint not null,
  constraint nonce_pkey PRIMARY KEY (merchant_id, key_id, nonce)
);
CREATE INDEX nonce_age ON public.nonce USING btree (spent_at_ms);

create table public.payment (
  merchant_id uuid not null,
  payment_id uuid not null,
  store_id uuid not null,
  session_id uuid,
  customer text,
  amount bigint not null,
  currency text not null,
  status text not null,
  fixed_currency text,
  fixed_network text,
  chosen_currency text,
  chosen_network text,
  received_amount bigint not null default 0,
  refunded_amount bigint not null default 0,
  refunding_amount bigint not null default 0,
  held_amount bigint not null default 0,
  decline_code text,
  wallet_address text,
  metadata jsonb not null default '{}'::jsonb,
  expires_at bigint,
  canceled_at bigint,
  completed_at bigint,
  created_at bigint not null,
  invoice_id uuid,
  closed_at bigint,
  earlier_amounts jsonb not null default '[]'::jsonb,
  order_id text,
  exceptions jsonb not null default '[]'::jsonb,
  payer_email text,
  payer_language text,
  constraint payment_pkey PRIMARY KEY (merchant_id, payment_id),
  constraint payment_amount_check CHECK ((amount > 0)),
  constraint payment_check CHECK (((status = 'completed'::text) = (completed_at IS NOT NULL))),
  constraint payment_check1 CHECK (((refunded_amount >= 0) AND (refunding_amount >= 0) AND ((refunded_amount + refunding_amount) <= received_amount))),
  constraint payment_held CHECK ((held_amount =
CASE
    WHEN (status = 'completed'::text) THEN (0)::bigint
    ELSE ((received_amount - refunded_amount) - refunding_amount)
END)),
  constraint payment_held_amount_check CHECK ((held_amount >= 0)),
  constraint payment_received_amount_check CHECK ((received_amount >= 0)),
  constraint payment_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'frozen'::text])))
);
CREATE INDEX payment_amount ON public.payment USING btree (merchant_id, store_id, amount, currency, created_at);
CREATE INDEX payment_canceled ON public.payment USING btree (merchant_id, store_id, created_at, payment_id) WHERE (exceptions @> '["canceled"]'::jsonb);
CREATE INDEX payment_currency ON public.payment USING btree (merchant_id, store_id, currency, created_at, payment_id);
CREATE INDEX payment_customer ON public.payment USING btree (merchant_id, store_id, customer, created_at, payment_id) WHERE (customer IS NOT NULL);
CREATE UNIQUE INDEX payment_invoice_completed ON public.payment USING btree (merchant_id, invoice_id) WHERE ((status = 'completed'::text) AND (invoice_id IS NOT NULL));
CREATE INDEX payment_late ON public.payment USING btree (merchant_id, store_id, created_at, payment_id) WHERE (exceptions @> '["late"]'::jsonb);
CREATE INDEX payment_list ON public.payment USING btree (merchant_id, store_id, created_at, payment_id);
CREATE INDEX payment_network ON public.payment USING btree (merchant_id, store_id, COALESCE(fixed_network, chosen_network), created_at, payment_id) WHERE (COALESCE(fixed_network, chosen_network) IS NOT NULL);
CREATE INDEX payment_order ON public.payment USING btree (merchant_id, store_id, order_id, created_at, payment_id) WHERE (order_id IS NOT NULL);
CREATE INDEX payment_overpaid ON public.payment USING btree (merchant_id, store_id, created_at, payment_id) WHERE (exceptions @> '["overpaid"]'::jsonb);
CREATE INDEX payment_payable ON public.payment USING btree (merchant_id, expires_at) WHERE ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'frozen'::text])) AND (chosen_network IS NOT NULL));
CREATE INDEX payment_payer_email ON public.payment USING btree (merchant_id, store_id, lower(payer_email), created_at) WHERE (payer_email IS NOT NULL);
CREATE INDEX payment_session_list ON public.payment USING btree (merchant_id, store_id, created_at, session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX payment_session_status ON public.payment USING btree (merchant_id, store_id, status, created_at, session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX payment_status ON public.payment USING btree (merchant_id, store_id, status, created_at, payment_id);
CREATE INDEX payment_underpaid ON public.payment USING btree (merchant_id, store_id, created_at, payment_id) WHERE (exceptions @> '["underpaid"]'::jsonb);
CREATE INDEX payment_wrong_token ON public.payment USING btree (merchant_id, store_id, created_at, payment_id) WHERE (exceptions @> '["wrong_token"]'::jsonb);

create table public.payment_link (
  merchant_id uuid not null,
  link_id uuid not null,
  store_id uuid not null,
  amount bigint,
  currency text not null,
  description text,
  active boolean not null default true,
  created_at bigint not null,
  constraint payment_link_pkey PRIMARY KEY (merchant_id, link_id),
  constraint payment_link_amount_check CHECK ((amount > 0))
);
CREATE INDEX payment_link_list ON public.payment_link USING btree (merchant_id, store_id, created_at, link_id);

create table public.payment_method (
  merchant_id uuid not null,
  payment_method_id uuid not null,
  store_id uuid not null,
  customer_id uuid not null,
  currency text not null,
  network text not null,
  wallet_address text not null,
  recipient text not null,
  mandate_id text not null,
  salt text not null,
  cap_amount bigint not null,
  "interval" text not null,
  starts_at bigint not null,
  ends_at bigint,
  status text not null,
  balance bigint not null,
  allowance bigint not null,
  read_at bigint not null,
  next_read_at bigint,
  metadata jsonb not null default '{}'::jsonb,
  created_at bigint not null,
  subscriptions integer,
  activated_at bigint,
  elsewhere_since bigint,
  constraint payment_method_pkey PRIMARY KEY (merchant_id, payment_method_id),
  constraint payment_method_merchant_id_network_mandate_id_key UNIQUE (merchant_id, network, mandate_id),
  constraint payment_method_allowance_check CHECK ((allowance >= 0)),
  constraint payment_method_balance_check CHECK ((balance >= 0)),
  constraint payment_method_cap_amount_check CHECK ((cap_amount > 0)),
  constraint payment_method_check CHECK (((status = 'revoked'::text) = (next_read_at IS NULL))),
  constraint payment_method_check1 CHECK (((ends_at IS NULL) OR (ends_at > starts_at))),
  constraint payment_method_interval_check CHECK (("interval" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint payment_method_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text, 'revoked'::text, 'unknown'::text]))),
  constraint payment_method_subscriptions_check CHECK (((subscriptions >= 1) AND (subscriptions <= 65535)))
);
CREATE INDEX payment_method_currency ON public.payment_method USING btree (merchant_id, currency, created_at, payment_method_id);
CREATE INDEX payment_method_customer ON public.payment_method USING btree (merchant_id, customer_id, created_at, payment_method_id);
CREATE INDEX payment_method_due ON public.payment_method USING btree (merchant_id, network, next_read_at) WHERE (next_read_at IS NOT NULL);
CREATE INDEX payment_method_elsewhere ON public.payment_method USING btree (network) WHERE (elsewhere_since IS NOT NULL);
CREATE INDEX payment_method_list ON public.payment_method USING btree (merchant_id, created_at, payment_method_id);
CREATE INDEX payment_method_network ON public.payment_method USING btree (merchant_id, network, created_at, payment_method_id);
CREATE INDEX payment_method_status ON public.payment_method USING btree (merchant_id, status, created_at, payment_method_id);
CREATE INDEX payment_method_wallet ON public.payment_method USING btree (merchant_id, network, wallet_address, currency);

create table public.payment_option (
  merchant_id uuid not null,
  payment_id uuid not null,
  currency text not null,
  network text not null,
  address text not null,
  watch text,
  exchange_rate text not null,
  pay_amount bigint not null,
  quote_ends_at bigint not null,
  chosen_at bigint not null,
  quoted_at bigint,
  earlier_quotes jsonb not null default '[]'::jsonb,
  constraint payment_option_pkey PRIMARY KEY (merchant_id, payment_id, currency, network),
  constraint payment_option_pay_amount_check CHECK ((pay_amount > 0))
);
CREATE UNIQUE INDEX payment_option_address ON public.payment_option USING btree (merchant_id, network, address) WHERE (watch IS NOT NULL);
CREATE UNIQUE INDEX payment_option_watch ON public.payment_option USING btree (merchant_id, network, watch) WHERE (watch IS NOT NULL);

create table public.payment_transaction (
  merchant_id uuid not null,
  network text not null,
  tx_id text not null,
  index integer not null,
  payment_id uuid not null,
  currency text,
  address text not null,
  sender text not null,
  amount bigint not null,
  kind text not null,
  status text not null,
  decision text,
  held_amount bigint not null default 0,
  refunded_amount bigint not null default 0,
  refunding_amount bigint not null default 0,
  height bigint not null,
  seen_at bigint not null,
  final_at bigint,
  sweep_id uuid,
  lost_at bigint,
  pulled boolean not null default false,
  swept_amount bigint not null default 0,
  required_confirmations integer not null default 3,
  is_early boolean not null default false,
  constraint payment_transaction_pkey PRIMARY KEY (merchant_id, network, tx_id, index),
  constraint payment_transaction_amount_check CHECK ((amount > 0)),
  constraint payment_transaction_check CHECK (((status = 'final'::text) = (final_at IS NOT NULL))),
  constraint payment_transaction_check1 CHECK (((refunded_amount >= 0) AND (refunding_amount >= 0) AND ((refunded_amount + refunding_amount) <= amount))),
  constraint payment_transaction_check2 CHECK (((NOT is_early) OR (status = 'final'::text))),
  constraint payment_transaction_decision_check CHECK ((decision = ANY (ARRAY['accepted'::text, 'released'::text, 'kept'::text]))),
  constraint payment_transaction_final_marks CHECK (((status = 'final'::text) OR ((sweep_id IS NULL) AND (lost_at IS NULL)))),
  constraint payment_transaction_held CHECK ((held_amount =
CASE
    WHEN ((kind = 'wrong_token'::text) AND (status = 'final'::text) AND (decision IS DISTINCT FROM 'accepted'::text)) THEN ((amount - refunded_amount) - refunding_amount)
    ELSE (0)::bigint
END)),
  constraint payment_transaction_held_amount_check CHECK ((held_amount >= 0)),
  constraint payment_transaction_kind_check CHECK ((kind = ANY (ARRAY['counted'::text, 'wrong_token'::text, 'seized'::text, 'unlisted'::text]))),
  constraint payment_transaction_refunds CHECK ((((kind = 'wrong_token'::text) AND (status = 'final'::text)) OR ((refunded_amount = 0) AND (refunding_amount = 0)))),
  constraint payment_transaction_required_confirmations_check CHECK ((required_confirmations > 0)),
  constraint payment_transaction_status_check CHECK ((status = ANY (ARRAY['seen'::text, 'final'::text, 'gone'::text]))),
  constraint payment_transaction_swept CHECK ((((swept_amount >= 0) AND (swept_amount <= amount)) AND ((swept_amount > 0) = (sweep_id IS NOT NULL))))
);
CREATE INDEX payment_transaction_early ON public.payment_transaction USING btree (merchant_id, network, height) WHERE is_early;
CREATE INDEX payment_transaction_final ON public.payment_transaction USING btree (merchant_id, network, height) WHERE (status = 'final'::text);
CREATE INDEX payment_transaction_lost ON public.payment_transaction USING btree (merchant_id, network) WHERE (lost_at IS NOT NULL);
CREATE INDEX payment_transaction_open ON public.payment_transaction USING btree (merchant_id, network) WHERE (status = 'seen'::text);
CREATE INDEX payment_transaction_payment ON public.payment_transaction USING btree (merchant_id, payment_id, seen_at, tx_id, index);
CREATE INDEX payment_transaction_sender ON public.payment_transaction USING btree (merchant_id, sender, payment_id);
CREATE INDEX payment_transaction_sweep ON public.payment_transaction USING btree (merchant_id, sweep_id) WHERE (sweep_id IS NOT NULL);
CREATE INDEX payment_transaction_undecided ON public.payment_transaction USING btree (final_at, merchant_id, network, tx_id, index) WHERE ((kind = 'seized'::text) AND (status = 'final'::text) AND (decision IS NULL));
CREATE INDEX payment_transaction_unswept ON public.payment_transaction USING btree (merchant_id, network, address, currency) WHERE ((status = 'final'::text) AND (swept_amount < amount) AND (kind = ANY (ARRAY['counted'::text, 'wrong_token'::text])));

create table public.payout_batch (
  merchant_id uuid not null,
  batch_id uuid not null,
  store_id uuid not null,
  key_id uuid,
  idempotency_key text not null,
  currency text not null,
  network text not null,
  status text not null,
  description text,
  total_count integer not null,
  valid_count integer not null,
  invalid_count integer not null,
  success_count integer not null default 0,
  failed_count integer not null default 0,
  requested_amount bigint not null,
  total_amount bigint not null,
  service_fee_amount bigint not null,
  debit_amount bigint not null,
  frozen_amount bigint not null default 0,
  charged_service_fee_amount bigint not null default 0,
  validation_errors jsonb not null,
  items_digest bytea,
  submitted_day integer,
  required_approvals integer not null default 0,
  created_at bigint not null,
  submitted_at bigint,
  completed_at bigint,
  owners uuid[] not null default '{}'::uuid[],
  required_signatures integer,
  authors uuid[] not null default '{}'::uuid[],
  constraint payout_batch_pkey PRIMARY KEY (merchant_id, batch_id),
  constraint payout_batch_check CHECK (((valid_count + invalid_count) = total_count)),
  constraint payout_batch_created_by CHECK (((key_id IS NOT NULL) OR (cardinality(authors) > 0))),
  constraint payout_batch_frozen CHECK (((frozen_amount >= 0) AND ((frozen_amount = 0) OR (status = ANY (ARRAY['pending_approval'::text, 'pending'::text, 'processing'::text]))))),
  constraint payout_batch_required_signatures CHECK (((required_signatures >= 0) AND (required_signatures <= required_approvals))),
  constraint payout_batch_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'needs_fix'::text, 'pending'::text, 'pending_approval'::text, 'processing'::text, 'partially_completed'::text, 'completed'::text, 'failed'::text, 'canceled'::text, 'rejected'::text])))
);
CREATE INDEX payout_batch_amount ON public.payout_batch USING btree (merchant_id, store_id, total_amount, currency, created_at);
CREATE INDEX payout_batch_key ON public.payout_batch USING btree (merchant_id, idempotency_key);
CREATE INDEX payout_batch_order ON public.payout_batch USING btree (merchant_id, created_at DESC, batch_id DESC);
CREATE INDEX payout_batch_status ON public.payout_batch USING btree (merchant_id, status, created_at DESC, batch_id DESC);
CREATE INDEX payout_batch_unapproved ON public.payout_batch USING btree (merchant_id, submitted_at) INCLUDE (requested_amount, status) WHERE ((required_approvals = 0) AND (submitted_at IS NOT NULL));
CREATE INDEX payout_batch_unsigned ON public.payout_batch USING btree (status) INCLUDE (requested_amount) WHERE ((required_signatures = 0) AND (status = ANY (ARRAY['pending_approval'::text, 'pending'::text, 'processing'::text])));

create table public.payout_item (
  merchant_id uuid not null,
  batch_id uuid not null,
  index integer not null,
  item_id uuid not null,
  real_name text,
  network text not null,
  address text not null,
  memo text,
  amount bigint not null,
  service_fee_amount bigint not null,
  status text not null,
  validation_errors jsonb not null,
  tx_id text,
  failure_code text,
  failure_message text,
  created_at bigint not null,
  completed_at bigint,
  lost_at bigint,
  constraint payout_item_pkey PRIMARY KEY (merchant_id, batch_id, index),
  constraint payout_item_amount_check CHECK ((amount > 0)),
  constraint payout_item_check CHECK (((lost_at IS NULL) OR (status = ANY (ARRAY['succeeded'::text, 'failed'::text])))),
  constraint payout_item_fee CHECK ((service_fee_amount >= 0)),
  constraint payout_item_status_check CHECK ((status = ANY (ARRAY['valid'::text, 'invalid'::text, 'queued'::text, 'processing'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text])))
);
CREATE INDEX payout_item_address ON public.payout_item USING btree (merchant_id, address, batch_id);
CREATE INDEX payout_item_amount ON public.payout_item USING btree (merchant_id, amount, batch_id);
CREATE UNIQUE INDEX payout_item_id ON public.payout_item USING btree (merchant_id, item_id);
CREATE INDEX payout_item_look ON public.payout_item USING btree (merchant_id, network, lower(("left"(replace(address, '0x'::text, ''::text), 4) || "right"(address, 4))), address, batch_id) WHERE (status = 'succeeded'::text);

create table public.payout_quota (
  merchant_id uuid not null,
  currency text not null,
  day integer not null,
  amount bigint not null,
  constraint payout_quota_pkey PRIMARY KEY (merchant_id, currency, day),
  constraint payout_quota_amount_check CHECK ((amount >= 0))
);

create table public.portal_session (
  merchant_id uuid not null,
  portal_session_id uuid not null,
  store_id uuid not null,
  customer_id uuid not null,
  customer text not null,
  secret_hash bytea not null,
  return_url text not null,
  expires_at bigint not null,
  created_at bigint not null,
  constraint portal_session_pkey PRIMARY KEY (merchant_id, portal_session_id)
);
CREATE INDEX portal_session_customer ON public.portal_session USING btree (merchant_id, customer_id, expires_at);

create table public.refund (
  merchant_id uuid not null,
  refund_id uuid not null,
  own_id text not null,
  store_id uuid not null,
  payment_id uuid not null,
  source_tx_id text,
  source_index integer,
  currency text not null,
  network text not null,
  amount bigint not null,
  address text,
  status text not null,
  tx_id text,
  failure_reason text,
  reason text,
  metadata jsonb not null default '{}'::jsonb,
  claim_secret bytea,
  claim_ends_at bigint,
  short_since bigint,
  day integer not null,
  created_at bigint not null,
  completed_at bigint,
  created_by_owner uuid,
  addressed_at bigint,
  required_approvals integer not null default 0,
  approval_digest bytea,
  approved_at bigint,
  lost_at bigint,
  suspended_seconds bigint not null default 0,
  required_signatures integer,
  waiting_for text,
  authors uuid[] not null default '{}'::uuid[],
  made_by_user uuid,
  constraint refund_pkey PRIMARY KEY (merchant_id, refund_id),
  constraint refund_merchant_id_own_id_key UNIQUE (merchant_id, own_id),
  constraint refund_amount_check CHECK ((amount > 0)),
  constraint refund_approval_digest CHECK (((approval_digest IS NOT NULL) = (required_approvals > 0))),
  constraint refund_approval_of_address CHECK (((required_approvals = 0) OR (address IS NOT NULL))),
  constraint refund_approved_as_required CHECK (((approved_at IS NULL) OR (required_approvals > 0))),
  constraint refund_check CHECK (((source_tx_id IS NULL) = (source_index IS NULL))),
  constraint refund_check1 CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'canceled'::text])) = (completed_at IS NOT NULL))),
  constraint refund_check2 CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint refund_check3 CHECK (((address IS NOT NULL) OR (status = ANY (ARRAY['pending'::text, 'canceled'::text])))),
  constraint refund_check4 CHECK (((claim_secret IS NULL) = (claim_ends_at IS NULL))),
  constraint refund_check5 CHECK (((lost_at IS NULL) OR (status = ANY (ARRAY['succeeded'::text, 'failed'::text])))),
  constraint refund_failure_reason_check CHECK ((failure_reason = ANY (ARRAY['address_risk'::text, 'transfer_failed'::text]))),
  constraint refund_required_approvals_check CHECK ((required_approvals >= 0)),
  constraint refund_required_signatures CHECK (((required_signatures >= 0) AND (required_signatures <= required_approvals))),
  constraint refund_sent_as_approved CHECK (((status = ANY (ARRAY['pending'::text, 'canceled'::text])) OR (required_approvals = 0) OR (approved_at IS NOT NULL))),
  constraint refund_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text]))),
  constraint refund_waiting_for CHECK (((waiting_for IS NULL) OR ((waiting_for = ANY (ARRAY['merchant_suspended'::text, 'network_not_enabled'::text, 'network_paused'::text, 'coins'::text])) AND (status = 'pending'::text))))
);
CREATE INDEX refund_address ON public.refund USING btree (merchant_id, store_id, address, created_at, refund_id) WHERE (address IS NOT NULL);
CREATE INDEX refund_currency ON public.refund USING btree (merchant_id, store_id, currency, created_at, refund_id);
CREATE INDEX refund_list ON public.refund USING btree (merchant_id, store_id, created_at, refund_id);
CREATE INDEX refund_look ON public.refund USING btree (merchant_id, network, lower(("left"(replace(address, '0x'::text, ''::text), 4) || "right"(address, 4))), address, required_approvals) WHERE (status = 'succeeded'::text);
CREATE INDEX refund_network ON public.refund USING btree (merchant_id, store_id, network, created_at, refund_id);
CREATE INDEX refund_open ON public.refund USING btree (merchant_id) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE INDEX refund_payment ON public.refund USING btree (merchant_id, payment_id);
CREATE INDEX refund_status ON public.refund USING btree (merchant_id, store_id, status, created_at, refund_id);
CREATE INDEX refund_tx ON public.refund USING btree (merchant_id, store_id, tx_id, created_at, refund_id) WHERE (tx_id IS NOT NULL);
CREATE INDEX refund_unapproved ON public.refund USING btree (merchant_id, addressed_at) INCLUDE (amount, status) WHERE ((required_approvals = 0) AND (addressed_at IS NOT NULL));
CREATE INDEX refund_unsigned ON public.refund USING btree (status) INCLUDE (amount) WHERE ((required_signatures = 0) AND (status = ANY (ARRAY['pending'::text, 'processing'::text])));

create table public.refund_quota (
  merchant_id uuid not null,
  store_id uuid not null,
  day integer not null,
  amount bigint not null,
  constraint refund_quota_pkey PRIMARY KEY (merchant_id, store_id, day),
  constraint refund_quota_amount_check CHECK ((amount >= 0))
);

create table public.request_log (
  merchant_id uuid not null,
  request_id uuid not null,
  callers_id text,
  store_id uuid not null,
  key_id uuid not null,
  is_verified boolean not null,
  method text not null,
  route text not null,
  path text not null,
  query text not null,
  status smallint not null,
  duration_us integer not null,
  error_code text,
  refusal text,
  remote_address text not null,
  request_headers text not null,
  request_body text,
  request_bytes integer not null,
  answer_body text,
  answer_bytes integer not null,
  explanation jsonb,
  constraint request_log_pkey PRIMARY KEY (merchant_id, request_id),
  constraint request_log_refusal_check CHECK ((refusal = ANY (ARRAY['headers'::text, 'signature'::text, 'timestamp'::text, 'ended'::text, 'nonce'::text])))
) partition by RANGE (request_id);
CREATE INDEX request_log_callers_id ON ONLY public.request_log USING btree (merchant_id, callers_id) WHERE (callers_id IS NOT NULL);
CREATE INDEX request_log_failed ON ONLY public.request_log USING btree (merchant_id, request_id DESC) WHERE (status >= 400);

create table public.risk_address (
  network text not null,
  address text not null,
  reason text not null,
  created_at_ms bigint not null,
  constraint risk_address_pkey PRIMARY KEY (network, address)
);

create table public.setting (
  merchant_id uuid not null,
  name text not null,
  value jsonb not null,
  constraint setting_pkey PRIMARY KEY (merchant_id, name)
);

create table public.signed_approval (
  merchant_id uuid not null,
  kind text not null,
  owner_id uuid not null,
  approver text not null,
  statement_digest bytea not null,
  valid_until bigint not null,
  signature text not null,
  created_at bigint not null,
  approver_id uuid,
  decision text not null default 'approve'::text,
  public_key text,
  credential_id bytea,
  authenticator_data bytea,
  client_data_json bytea,
  constraint signed_approval_pkey PRIMARY KEY (merchant_id, kind, owner_id, approver),
  constraint signed_approval_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'reject'::text]))),
  constraint signed_approval_kind_check CHECK ((kind = ANY (ARRAY['payout'::text, 'refund'::text]))),
  constraint signed_approval_passkey CHECK ((num_nonnulls(credential_id, authenticator_data, client_data_json) = ANY (ARRAY[0, 3]))),
  constraint signed_approval_statement_digest_check CHECK ((length(statement_digest) = 32))
);

create table public.solana_mark (
  merchant_id uuid not null,
  account text not null,
  amount bigint not null,
  since bigint not null,
  reported_at bigint not null,
  previous_amount bigint not null,
  previous_since bigint not null,
  late_from bigint,
  leaving_since bigint,
  swept_by uuid,
  constraint solana_mark_pkey PRIMARY KEY (merchant_id, account),
  constraint solana_mark_amount_check CHECK ((amount >= 0)),
  constraint solana_mark_late_from_check CHECK ((late_from >= '-1'::integer)),
  constraint solana_mark_leaving_since_check CHECK ((leaving_since >= '-1'::integer)),
  constraint solana_mark_previous_amount_check CHECK ((previous_amount >= 0)),
  constraint solana_mark_previous_since_check CHECK ((previous_since >= '-1'::integer)),
  constraint solana_mark_reported_at_check CHECK ((reported_at >= '-1'::integer)),
  constraint solana_mark_since_check CHECK ((since >= '-1'::integer))
);
CREATE INDEX solana_mark_reported ON public.solana_mark USING btree (merchant_id, reported_at);

create table public.solana_token_account (
  merchant_id uuid not null,
  mint text not null,
  owner text not null,
  account text not null,
  constraint solana_token_account_pkey PRIMARY KEY (merchant_id, mint, owner)
);
CREATE INDEX solana_token_account_account ON public.solana_token_account USING btree (merchant_id, account);

create table public.store (
  merchant_id uuid not null,
  store_id uuid not null,
  name text not null,
  channel_type text not null,
  review_status text not null default 'pending'::text,
  enabled boolean not null default false,
  created_at bigint not null,
  webhook_key_id uuid,
  previous_webhook_key_id uuid,
  previous_webhook_key_until_ms bigint,
  accent text,
  support text,
  terms_url text,
  logo_id text,
  logo_width integer,
  logo_height integer,
  constraint store_pkey PRIMARY KEY (merchant_id, store_id),
  constraint store_accent_check CHECK ((accent ~ '^#[0-9a-f]{6}$'::text)),
  constraint store_channel_type_check CHECK ((channel_type = ANY (ARRAY['api'::text, 'hosted'::text]))),
  constraint store_logo_height_check CHECK (((logo_height >= 1) AND (logo_height <= 40))),
  constraint store_logo_size CHECK ((((logo_id IS NULL) = (logo_width IS NULL)) AND ((logo_id IS NULL) = (logo_height IS NULL)))),
  constraint store_logo_width_check CHECK (((logo_width >= 1) AND (logo_width <= 160))),
  constraint store_review_status_check CHECK ((review_status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text]))),
  constraint store_support_check CHECK (((support ~ '^(https://|mailto:)'::text) AND (length(support) <= 520))),
  constraint store_terms_url_check CHECK (((terms_url ~ '^https://'::text) AND (length(terms_url) <= 500)))
);

create table public.store_logo (
  merchant_id uuid not null,
  store_id uuid not null,
  logo_id text not null,
  type text not null,
  body bytea not null,
  constraint store_logo_pkey PRIMARY KEY (merchant_id, store_id),
  constraint store_logo_body_check CHECK ((length(body) <= 300000)),
  constraint store_logo_logo_id_check CHECK ((logo_id ~ '^[0-9a-f]{32}$'::text)),
  constraint store_logo_type_check CHECK ((type = ANY (ARRAY['image/png'::text, 'image/svg+xml'::text])))
);

create table public.subscription (
  merchant_id uuid not null,
  subscription_id uuid not null,
  store_id uuid not null,
  customer_id uuid not null,
  customer text not null,
  currency text not null,
  description text,
  status text not null,
  items jsonb not null,
  amount bigint not null,
  "interval" text not null,
  payment_method_id uuid,
  billing_cycle_anchor bigint not null,
  trial_end bigint,
  current_period_start bigint not null,
  current_period_end bigint not null,
  cancel_at bigint,
  canceled_at bigint,
  credit_amount bigint not null default 0,
  pending_items jsonb,
  latest_invoice_id uuid,
  success_url text,
  cancel_url text,
  page_token text not null,
  metadata jsonb not null default '{}'::jsonb,
  created_at bigint not null,
  billed_levels jsonb,
  skipped_until bigint,
  constraint subscription_pkey PRIMARY KEY (merchant_id, subscription_id),
  constraint subscription_amount_check CHECK ((amount >= 0)),
  constraint subscription_check1 CHECK (((status = 'canceled'::text) = (canceled_at IS NOT NULL))),
  constraint subscription_credit_amount_check CHECK ((credit_amount >= 0)),
  constraint subscription_interval_check CHECK (("interval" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint subscription_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'incomplete_expired'::text])))
);
CREATE INDEX subscription_customer ON public.subscription USING btree (merchant_id, store_id, customer, created_at, subscription_id);
CREATE INDEX subscription_customer_status ON public.subscription USING btree (merchant_id, store_id, customer, status, created_at, subscription_id);
CREATE INDEX subscription_list ON public.subscription USING btree (merchant_id, store_id, created_at, subscription_id);
CREATE INDEX subscription_method ON public.subscription USING btree (merchant_id, payment_method_id) WHERE ((payment_method_id IS NOT NULL) AND (status = ANY (ARRAY['incomplete'::text, 'trialing'::text, 'active'::text, 'past_due'::text])));
CREATE INDEX subscription_status ON public.subscription USING btree (merchant_id, store_id, status, created_at, subscription_id);

create table public.sweep_part (
  merchant_id uuid not null,
  sweep_id uuid not null,
  network text not null,
  tx_id text not null,
  index integer not null,
  amount bigint not null,
  constraint sweep_part_pkey PRIMARY KEY (merchant_id, sweep_id, network, tx_id, index),
  constraint sweep_part_amount_check CHECK ((amount > 0))
);
CREATE INDEX sweep_part_deposit ON public.sweep_part USING btree (merchant_id, network, tx_id, index);

create table public.transfer (
  merchant_id uuid not null,
  transfer_id uuid not null,
  owner_type text not null,
  owner_id uuid not null,
  group_id uuid not null,
  network text not null,
  currency text not null,
  address text not null,
  amount bigint not null,
  memo text,
  status text not null,
  tries integer not null default 0,
  alone boolean not null default false,
  attempt_id uuid,
  tx_id text,
  failure_code text,
  failure_message text,
  created_at bigint not null,
  completed_at bigint,
  key_ref text not null default 'hot'::text,
  charge jsonb,
  lost_at bigint,
  place integer not null,
  constraint transfer_pkey PRIMARY KEY (merchant_id, transfer_id),
  constraint transfer_amount_check CHECK ((amount > 0)),
  constraint transfer_failure CHECK (((status = 'failed'::text) = (failure_code IS NOT NULL))),
  constraint transfer_over CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text])) = (completed_at IS NOT NULL))),
  constraint transfer_place_from_zero CHECK ((place >= 0)),
  constraint transfer_sending CHECK (((status = 'sending'::text) = (attempt_id IS NOT NULL))),
  constraint transfer_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'succeeded'::text, 'failed'::text])))
);
CREATE INDEX transfer_attempt_members ON public.transfer USING btree (merchant_id, attempt_id) WHERE (attempt_id IS NOT NULL);
CREATE INDEX transfer_charge_open ON public.transfer USING btree (merchant_id, network, address, currency) WHERE ((charge IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'sending'::text])));
CREATE INDEX transfer_deposit_key ON public.transfer USING btree (merchant_id, network, key_ref) WHERE (key_ref <> 'hot'::text);
CREATE INDEX transfer_group ON public.transfer USING btree (merchant_id, group_id);
CREATE INDEX transfer_of_owner ON public.transfer USING btree (merchant_id, owner_id);
CREATE UNIQUE INDEX transfer_owner ON public.transfer USING btree (merchant_id, owner_type, owner_id) WHERE ((status <> 'failed'::text) AND (lost_at IS NULL));
CREATE UNIQUE INDEX transfer_place ON public.transfer USING btree (merchant_id, group_id, place) WHERE ((status <> 'failed'::text) AND (lost_at IS NULL));

create table public.transfer_attempt (
  merchant_id uuid not null,
  attempt_id uuid not null,
  group_id uuid not null,
  network text not null,
  currency text not null,
  sender text not null,
  sequence bigint,
  status text not null,
  tx_id text,
  raw text,
  item_ids uuid[] not null,
  valid_until_height bigint,
  valid_until_ms bigint,
  detail text,
  created_at bigint not null,
  completed_at bigint,
  key_ref text not null default 'hot'::text,
  height bigint,
  ordinal bigint,
  previous_id uuid,
  gone_at bigint,
  gap_tx_id text,
  gap_raw text,
  gap_id uuid,
  gap_ordinal bigint,
  gap_previous_id uuid,
  stray_ids uuid[] not null default '{}'::uuid[],
  differs boolean not null default false,
  versions integer not null default 1,
  fee_limit numeric(39,0),
  fee_native numeric(39,0),
  sent_at bigint,
  movement jsonb,
  fee_usd numeric(24,6),
  fee_payer text,
  openings numeric(39,0),
  refused_at bigint,
  share_at bigint,
  constraint transfer_attempt_pkey PRIMARY KEY (merchant_id, attempt_id),
  constraint transfer_attempt_merchant_id_network_tx_id_key UNIQUE (merchant_id, network, tx_id),
  constraint transfer_attempt_openings_check CHECK ((openings >= (0)::numeric)),
  constraint transfer_attempt_ordinal CHECK ((((ordinal >= 0) AND (ordinal IS NOT NULL)) OR ((ordinal IS NULL) AND (status <> 'reserved'::text)))),
  constraint transfer_attempt_status_check CHECK ((status = ANY (ARRAY['reserved'::text, 'signed'::text, 'sent'::text, 'succeeded'::text, 'failed'::text, 'dead'::text]))),
  constraint transfer_attempt_versions_check CHECK ((versions >= 1))
);
CREATE INDEX transfer_attempt_fee_payer ON public.transfer_attempt USING btree (network, fee_payer) WHERE ((fee_payer IS NOT NULL) AND (status = ANY (ARRAY['reserved'::text, 'signed'::text, 'sent'::text])));
CREATE INDEX transfer_attempt_gone ON public.transfer_attempt USING btree (merchant_id, network) WHERE (gone_at IS NOT NULL);
CREATE INDEX transfer_attempt_height ON public.transfer_attempt USING btree (merchant_id, network, height) WHERE (height IS NOT NULL);
CREATE INDEX transfer_attempt_live ON public.transfer_attempt USING btree (merchant_id, group_id) WHERE (status = ANY (ARRAY['reserved'::text, 'signed'::text, 'sent'::text]));
CREATE UNIQUE INDEX transfer_attempt_number ON public.transfer_attempt USING btree (merchant_id, network, sender, ordinal) WHERE (ordinal IS NOT NULL);
CREATE INDEX transfer_attempt_openings ON public.transfer_attempt USING btree (merchant_id, network, completed_at) WHERE (openings > (0)::numeric);
CREATE UNIQUE INDEX transfer_attempt_sequence ON public.transfer_attempt USING btree (merchant_id, network, sender, sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX transfer_attempt_tank ON public.transfer_attempt USING btree (network, sender, ordinal) WHERE (key_ref = 'tank'::text);
CREATE INDEX transfer_attempt_tank_height ON public.transfer_attempt USING btree (network, sender, height) WHERE ((key_ref = 'tank'::text) AND (height IS NOT NULL));
CREATE INDEX transfer_attempt_top_ups ON public.transfer_attempt USING btree (merchant_id, network, completed_at) WHERE ((key_ref = 'tank'::text) AND ((movement ->> 'kind'::text) = 'gas'::text));

create table public.transfer_hold (
  merchant_id uuid not null,
  group_id uuid not null,
  reason text not null,
  held_at bigint not null,
  until bigint not null,
  attempt_id uuid,
  constraint transfer_hold_pkey PRIMARY KEY (merchant_id, group_id),
  constraint transfer_hold_check CHECK ((until >= held_at))
);

create table public.transfer_version (
  merchant_id uuid not null,
  attempt_id uuid not null,
  number integer not null,
  network text not null,
  tx_id text not null,
  raw text not null,
  fee_limit numeric(39,0),
  signed_at bigint not null,
  constraint transfer_version_pkey PRIMARY KEY (merchant_id, attempt_id, number),
  constraint transfer_version_transaction UNIQUE (merchant_id, network, tx_id),
  constraint transfer_version_number_check CHECK ((number >= 0))
);

create table public.vote (
  merchant_id uuid not null,
  action text not null,
  subject text not null,
  approver_id uuid not null,
  decision text not null,
  created_at bigint not null,
  constraint vote_pkey PRIMARY KEY (merchant_id, action, subject, approver_id)
);

create table public.wallet (
  network text not null,
  sender text not null,
  next_sequence bigint not null default 0,
  next_ordinal bigint not null default 0,
  first_ordinal bigint not null default 0,
  last_attempt_id uuid,
  constraint wallet_pkey PRIMARY KEY (sender, network)
);

create table public.wallet_rotation (
  merchant_id uuid not null,
  rotation_id uuid not null,
  network text not null,
  epoch integer not null,
  status text not null,
  created_at bigint not null,
  switched_at bigint,
  completed_at bigint,
  constraint wallet_rotation_pkey PRIMARY KEY (merchant_id, rotation_id),
  constraint wallet_rotation_epoch UNIQUE (merchant_id, network, epoch),
  constraint wallet_rotation_completed CHECK (((completed_at IS NULL) = (status <> 'done'::text))),
  constraint wallet_rotation_epoch_check CHECK ((epoch > 0)),
  constraint wallet_rotation_status_check CHECK ((status = ANY (ARRAY['closing'::text, 'moving'::text, 'done'::text]))),
  constraint wallet_rotation_switched CHECK (((switched_at IS NULL) = (status = 'closing'::text)))
);
CREATE UNIQUE INDEX wallet_rotation_open ON public.wallet_rotation USING btree (merchant_id, network) WHERE (completed_at IS NULL);

create table public.wallet_sequence (
  network text not null,
  sender text not null,
  sequence bigint not null,
  attempt_id uuid not null,
  constraint wallet_sequence_pkey PRIMARY KEY (sender, network, sequence)
);

create table public.webhook_endpoint (
  merchant_id uuid not null,
  endpoint_id uuid not null,
  store_id uuid not null,
  url text not null,
  types text[] not null,
  status text not null default 'enabled'::text,
  disabled_reason text,
  failures integer not null default 0,
  failing_since_ms bigint,
  created_at bigint not null,
  constraint webhook_endpoint_pkey PRIMARY KEY (merchant_id, endpoint_id),
  constraint webhook_endpoint_check CHECK (((status = 'disabled'::text) = (disabled_reason IS NOT NULL))),
  constraint webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['by_request'::text, 'failing'::text]))),
  constraint webhook_endpoint_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);
CREATE INDEX webhook_endpoint_store ON public.webhook_endpoint USING btree (merchant_id, store_id, endpoint_id);

create table simchain.account (
  merchant_id uuid not null,
  network text not null,
  address text not null,
  currency text not null,
  balance bigint not null,
  constraint account_pkey PRIMARY KEY (merchant_id, network, address, currency),
  constraint account_balance_check CHECK ((balance >= 0))
);

create table simchain.chain (
  merchant_id uuid not null,
  network text not null,
  genesis_at bigint not null,
  height_offset bigint not null default 0,
  settled_height bigint not null,
  settled_at bigint not null,
  next_arrival bigint not null default 1,
  next_transfer bigint not null default 1,
  outage_until bigint not null default 0,
  drop_next integer not null default 0,
  faults text[] not null default '{}'::text[],
  lag_blocks bigint not null default 0,
  forks integer not null default 0,
  fee_floor bigint not null default 0,
  signing_held text,
  constraint chain_pkey PRIMARY KEY (merchant_id, network),
  constraint chain_drop_next_check CHECK ((drop_next >= 0)),
  constraint chain_fee_floor_check CHECK ((fee_floor >= 0)),
  constraint chain_forks_check CHECK ((forks >= 0)),
  constraint chain_lag_blocks_check CHECK ((lag_blocks >= 0))
);

create table simchain.fork (
  merchant_id uuid not null,
  network text not null,
  number integer not null,
  kept_height bigint not null,
  constraint fork_pkey PRIMARY KEY (merchant_id, network, number)
);

create table simchain.holder (
  merchant_id uuid not null,
  history text not null,
  generation bigint not null,
  constraint holder_pkey PRIMARY KEY (merchant_id),
  constraint holder_generation_check CHECK ((generation > 0))
);

create table simchain.numbering (
  merchant_id uuid not null,
  network text not null,
  sender text not null,
  history text not null,
  ordinal bigint not null,
  attempt_id text not null,
  constraint numbering_pkey PRIMARY KEY (merchant_id, network, sender, history, ordinal)
);

create table simchain.permission (
  merchant_id uuid not null,
  network text not null,
  number bigint not null,
  tx_id text not null,
  kind text not null,
  owner text not null,
  currency text not null,
  spender text,
  amount bigint,
  mandate_id text,
  height bigint not null,
  constraint permission_pkey PRIMARY KEY (merchant_id, network, number),
  constraint permission_amount_check CHECK ((amount >= 0)),
  constraint permission_check CHECK (((kind = 'approve'::text) = ((spender IS NOT NULL) AND (amount IS NOT NULL)))),
  constraint permission_check1 CHECK (((kind = 'approve'::text) = (mandate_id IS NULL))),
  constraint permission_kind_check CHECK ((kind = ANY (ARRAY['approve'::text, 'activate'::text, 'revoke'::text])))
);
CREATE INDEX permission_height ON simchain.permission USING btree (merchant_id, network, height);
CREATE INDEX permission_mandate ON simchain.permission USING btree (merchant_id, network, mandate_id, height, number) WHERE (mandate_id IS NOT NULL);
CREATE INDEX permission_owner ON simchain.permission USING btree (merchant_id, network, owner, currency, height, number);

create table simchain.sender (
  merchant_id uuid not null,
  network text not null,
  address text not null,
  next_sequence bigint not null,
  constraint sender_pkey PRIMARY KEY (merchant_id, network, address)
);

create table simchain.signature (
  merchant_id uuid not null,
  network text not null,
  attempt_id text not null,
  raw text not null,
  constraint signature_pkey PRIMARY KEY (merchant_id, network, attempt_id)
);

create table simchain.stuck_item (
  merchant_id uuid not null,
  network text not null,
  sender text not null,
  item_id text not null,
  first_seen_at bigint not null,
  constraint stuck_item_pkey PRIMARY KEY (merchant_id, network, sender, item_id)
);

create table simchain.transaction (
  merchant_id uuid not null,
  network text not null,
  tx_id text not null,
  origin text not null,
  state text not null,
  sender text not null,
  sequence bigint,
  raw text,
  fee bigint not null default 0,
  arrival bigint not null,
  not_before bigint not null default 0,
  height bigint,
  item_ok text,
  reason text,
  constraint transaction_pkey PRIMARY KEY (merchant_id, network, tx_id),
  constraint transaction_check CHECK (((state = 'included'::text) = (height IS NOT NULL))),
  constraint transaction_origin_check CHECK ((origin = ANY (ARRAY['wallet'::text, 'foreign'::text]))),
  constraint transaction_state_check CHECK ((state = ANY (ARRAY['mempool'::text, 'included'::text, 'gone'::text])))
);
CREATE INDEX transaction_height ON simchain.transaction USING btree (merchant_id, network, height) WHERE (height IS NOT NULL);
CREATE INDEX transaction_mempool ON simchain.transaction USING btree (merchant_id, network, arrival) WHERE (state = 'mempool'::text);
CREATE UNIQUE INDEX transaction_sequence ON simchain.transaction USING btree (merchant_id, network, sender, sequence) WHERE ((sequence IS NOT NULL) AND (state <> 'gone'::text));

create table simchain.transfer (
  merchant_id uuid not null,
  network text not null,
  number bigint not null,
  tx_id text not null,
  index integer not null,
  item_id text,
  currency text,
  sender text not null,
  recipient text not null,
  amount bigint not null,
  height bigint not null,
  token text,
  block_time bigint not null default 0,
  mandate_id text,
  subscription_id text,
  window_start bigint,
  window_end bigint,
  from_account boolean not null default false,
  batch_id text,
  place integer,
  constraint transfer_pkey PRIMARY KEY (merchant_id, network, number),
  constraint transfer_merchant_id_network_tx_id_index_key UNIQUE (merchant_id, network, tx_id, index),
  constraint transfer_amount_check CHECK ((amount >= 0)),
  constraint transfer_charge CHECK ((((mandate_id IS NULL) = (subscription_id IS NULL)) AND ((mandate_id IS NULL) = (window_start IS NULL)) AND ((mandate_id IS NULL) = (window_end IS NULL)))),
  constraint transfer_in_batch CHECK (((batch_id IS NULL) = (place IS NULL))),
  constraint transfer_place_check CHECK ((place >= 0)),
  constraint transfer_token CHECK (((currency IS NULL) = (token IS NOT NULL)))
);
CREATE INDEX transfer_arrival ON simchain.transfer USING btree (merchant_id, network, recipient, height, number);
CREATE INDEX transfer_height ON simchain.transfer USING btree (merchant_id, network, height);
CREATE UNIQUE INDEX transfer_place ON simchain.transfer USING btree (merchant_id, network, sender, batch_id, place) WHERE ((batch_id IS NOT NULL) AND (network = 'erc20'::text));
CREATE INDEX transfer_pulled ON simchain.transfer USING btree (merchant_id, network, sender, currency, height, number) WHERE (mandate_id IS NOT NULL);
CREATE INDEX transfer_recipient ON simchain.transfer USING btree (merchant_id, network, recipient, number);
CREATE INDEX transfer_sender ON simchain.transfer USING btree (merchant_id, network, sender, number);
CREATE INDEX transfer_window ON simchain.transfer USING btree (merchant_id, network, mandate_id, subscription_id, window_start) WHERE (mandate_id IS NOT NULL);

-- How a store presents itself to its payers. A logo is kept as it was drawn again, apart from the store's row.
alter table store add column accent text check (accent ~ '^#[0-9a-f]{6}$');
alter table store add column support text check (support ~ '^(https://|mailto:)' and length(support) <= 520);
alter table store add column terms_url text check (terms_url ~ '^https://' and length(terms_url) <= 500);
alter table store add column logo_id text;
alter table store add column logo_width integer check (logo_width between 1 and 160);
alter table store add column logo_height integer check (logo_height between 1 and 40);
alter table store add constraint store_logo_size check (
  (logo_id is null) = (logo_width is null) and (logo_id is null) = (logo_height is null)
);

create table store_logo (
  merchant_id uuid not null,
  store_id uuid not null,
  -- Of the content: another picture has another address.
  logo_id text not null check (logo_id ~ '^[0-9a-f]{32}$'),
  type text not null check (type in ('image/png', 'image/svg+xml')),
  body bytea not null check (length(body) <= 300000),
  primary key (merchant_id, store_id)
);

-- A public key is one person's passkey: whoever knows it could add it as theirs, as possession is not proven where one is added.
set local lock_timeout = '5s';

-- The first was its owner's, as nobody knew the key before.
delete from console_passkey later using console_passkey earlier
where earlier.public_key = later.public_key
  and (earlier.created_at_ms, earlier.credential_id) < (later.created_at_ms, later.credential_id);

create unique index console_passkey_public_key on console_passkey (public_key);

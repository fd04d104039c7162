-- Wallets that were rotated are looked at every day, also where the rotation had ended before that was done.
set local lock_timeout = '5s';

insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, payload)
select distinct on (merchant_id, network) merchant_id, rotation_id, 'transfers.rotation', network, 0, jsonb_build_object('network', network)
from wallet_rotation where status = 'done'
on conflict (merchant_id, kind, unique_key) do nothing;

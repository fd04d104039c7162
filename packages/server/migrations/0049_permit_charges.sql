-- Whether a charge of a mandate has passed before its activation ended: then its wallet allowed enough, whatever is left now.
set local lock_timeout = '5s';

alter table mandate_activation add column charge_passed boolean not null default false;

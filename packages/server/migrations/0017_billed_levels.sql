-- Changes of items within a period go by what it was billed for: a change may have been made without a sum.
set local lock_timeout = '5s';

alter table subscription
  -- [["0", "1000"]]: the parts of sums that the period billed last was billed for, ascending; null: all of `amount`.
  add column billed_levels jsonb;

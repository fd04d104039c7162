-- The trace that asked for a job, so that its runs are found with the request which caused it.
set local lock_timeout = '5s';

-- A W3C traceparent; null where nothing is traced.
alter table job add column trace text;

-- A claim makes rows a little longer: in half of a page not all of them find room beside themselves.
alter table job set (fillfactor = 40);

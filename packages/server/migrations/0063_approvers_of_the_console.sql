-- Approvers whom a person of the console became by deciding: only of these the rights follow the person's role. Those whom
-- the operator registered are the operator's, with their tokens and keys.
set local lock_timeout = '5s';

alter table approver add column from_console boolean not null default false;

import type { Statement } from './checker.ts';

// What goes out unapproved, and who approved the rest. Limits are set once, before a run begins.

const limit = (name: string) => `
  select merchant_id, (value #>> '{}')::numeric * 1000000 as units from setting where name = '${name}'`;

/** Batches are bound to who approved; people who were removed, whenever that was, approve nothing. */
const SENT_WITHOUT_APPROVAL = `
  select b.batch_id, b.status, b.required_approvals, count(p.approver_id) as approvals from payout_batch b
  left join (vote v join approver p on p.merchant_id = v.merchant_id and p.approver_id = v.approver_id
      and p.removed_at is null)
    on v.merchant_id = b.merchant_id and v.action = 'payouts.approval' and v.decision = 'approved'
    and v.subject like b.batch_id || ' %'
  where b.status in ('pending', 'processing', 'completed', 'partially_completed', 'failed')
  group by b.merchant_id, b.batch_id having count(p.approver_id) < b.required_approvals`;

const REJECTED_BY_NOBODY = `
  select b.batch_id from payout_batch b where b.status = 'rejected' and not exists (select from vote v
    where v.merchant_id = b.merchant_id and v.action = 'payouts.approval' and v.subject like b.batch_id || ' %'
      and v.decision = 'rejected')`;

const REJECTED_AND_SENT = `
  select r.own_id as of, r.status from refund r join vote v on v.merchant_id = r.merchant_id
    and v.action = 'refunds.approval' and v.subject like r.refund_id || ' %' and v.decision = 'rejected'
  where r.status <> 'canceled'
  union all
  select b.batch_id::text, b.status from payout_batch b join vote v on v.merchant_id = b.merchant_id
    and v.action = 'payouts.approval' and v.subject like b.batch_id || ' %'
  where v.decision = 'rejected' and b.status <> 'rejected'`;

const REFUNDED_WITHOUT_APPROVAL = `
  select r.own_id, r.status, r.required_approvals, count(p.approver_id) as approvals from refund r
  left join (vote v join approver p on p.merchant_id = v.merchant_id and p.approver_id = v.approver_id
      and p.removed_at is null)
    on v.merchant_id = r.merchant_id and v.action = 'refunds.approval' and v.decision = 'approved'
    and v.subject like r.refund_id || ' %'
  where r.status not in ('pending', 'canceled') or r.approved_at is not null
  group by r.merchant_id, r.refund_id having count(p.approver_id) < r.required_approvals`;

/** In the 24 hours up to any of them. */
const unapproved = (name: string, from: string) => `
  with out as (${from}), limits as (${limit(name)})
  select o.merchant_id, o.at, l.units as may, sum(b.amount) as went from out o
  join limits l using (merchant_id)
  join out b on b.merchant_id = o.merchant_id and b.at > o.at - 86400 and b.at <= o.at
  group by 1, 2, 3, o.id having sum(b.amount) > l.units`;

const PAID_OUT_UNAPPROVED = unapproved(
  'payouts.unapproved_per_day',
  `select merchant_id, batch_id as id, submitted_at as at, requested_amount as amount from payout_batch
   where submitted_at is not null and required_approvals = 0 and status <> 'canceled'`,
);

const REFUNDED_UNAPPROVED = unapproved(
  'refunds.unapproved_per_day',
  `select merchant_id, refund_id as id, addressed_at as at, amount from refund
   where addressed_at is not null and required_approvals = 0 and status not in ('failed', 'canceled')`,
);

const LARGE_AND_UNAPPROVED = `
  select r.own_id, r.amount, l.units as may from refund r
  join (${limit('refunds.approval_above')}) l using (merchant_id)
  where r.amount > l.units and r.address is not null and r.required_approvals = 0`;

export const APPROVAL_CHECKS: readonly Statement[] = [
  ['I7', 'a batch went on without those who had to approve', SENT_WITHOUT_APPROVAL],
  ['I7', 'a refund went on without those who had to approve', REFUNDED_WITHOUT_APPROVAL],
  ['I7', 'a batch is rejected and nobody rejected it', REJECTED_BY_NOBODY],
  ['I7', 'what somebody rejected went on', REJECTED_AND_SENT],
  ['I7', 'more was paid out unapproved than may be in a day', PAID_OUT_UNAPPROVED],
  ['I7', 'more was refunded unapproved than may be in a day', REFUNDED_UNAPPROVED],
  ['I7', 'a large refund needed no approval', LARGE_AND_UNAPPROVED],
];

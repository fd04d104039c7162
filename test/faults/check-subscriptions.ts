/** A paid invoice above 0 has a payment that completed. */
const PAID_WITHOUT_MONEY = `
  select i.invoice_id, i.subscription_id, i.amount_due from invoice i
  where i.status = 'paid' and i.amount_due > 0 and not exists (
    select from payment p where p.merchant_id = i.merchant_id and p.invoice_id = i.invoice_id
      and p.status = 'completed' and p.received_amount > 0)`;

/** What is left of a credit is no more than was ever paid. */
const CREDIT_WITHOUT_MONEY = `
  with paid as (
    select merchant_id, subscription_id, sum(amount_due) as amount from invoice where status = 'paid' group by 1, 2
  )
  select s.subscription_id, s.credit_amount, p.amount as paid
  from subscription s left join paid p using (merchant_id, subscription_id)
  where s.credit_amount > coalesce(p.amount, 0)`;

/** No run sells anything for nothing, so a period that costs 0 was paid by a credit, and a credit by a payer. */
const FREE_PERIOD = `
  select i.invoice_id, i.subscription_id from invoice i
  where i.status = 'paid' and i.amount_due = 0 and i.billing_reason in ('subscription_create', 'subscription_cycle')
    and not exists (select from invoice o where o.merchant_id = i.merchant_id
      and o.subscription_id = i.subscription_id and o.status = 'paid' and o.amount_due > 0)`;

const PERIOD_TWICE = `
  select merchant_id, subscription_id, period_start, count(*) from invoice
  where billing_reason in ('subscription_create', 'subscription_cycle')
  group by 1, 2, 3 having count(*) > 1`;

export const SUBSCRIPTION_CHECKS: readonly (readonly [invariant: string, name: string, text: string])[] = [
  ['I1', 'an invoice is paid and no payment of it is', PAID_WITHOUT_MONEY],
  ['I1', 'more credit than was ever paid', CREDIT_WITHOUT_MONEY],
  ['I1', 'a period was paid by a credit that nobody paid', FREE_PERIOD],
  ['I16', 'a period was billed twice', PERIOD_TWICE],
];

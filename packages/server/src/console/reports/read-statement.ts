import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { readBalances } from '../../ledger/balances/index.ts';
import type { Account } from '../../ledger/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Period } from './period.ts';
import { type AccountStatement, type Flow, statementsOf } from './statement.ts';
import { reportTurns } from './turns.ts';

interface FlowRow {
  debit: Account;
  credit: Account;
  currency: Asset;
  network: Network | null;
  cause_type: string;
  is_of_invoice: boolean;
  is_within: boolean;
  entries: string;
  amount: string;
}

/** Entries since the period began, by their order index: what is older is in the balances, less these. */
const flowsSince = (merchantId: string, { fromSeconds, endSeconds }: Period) => sql<FlowRow>`
  select e.debit, e.credit, e.currency, e.network, e.cause_type, e.is_within,
         p.invoice_id is not null as is_of_invoice, count(*)::text as entries, sum(e.amount)::text as amount
  from (
    select debit, credit, currency, network, cause_type, cause_id, amount, created_at < ${endSeconds} as is_within
    from ledger_entry where merchant_id = ${merchantId} and created_at >= ${fromSeconds}
  ) e
  left join payment p on e.is_within and e.cause_type = 'payment'
    and p.merchant_id = ${merchantId} and p.payment_id = e.cause_id and p.invoice_id is not null
  group by 1, 2, 3, 4, 5, 6, 7`;

/**
 * The statements of a merchant's accounts in a period, as of one snapshot.
 *
 * @param reportsDb whose statements may take a minute: a year has millions of entries
 * @param reader who asks: a few at a time
 * @throws Fail `rate_limited` while the reader waits for others, or very many of the merchant do
 */
export async function readStatement(
  reportsDb: Db,
  { merchantId, reader }: { merchantId: string; reader: string },
  period: Period,
): Promise<AccountStatement[]> {
  return await reportTurns.run({ merchantId, reader }, () =>
    reportsDb
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (tx) => {
        const balances = await readBalances(tx, merchantId);
        const { rows } = await flowsSince(merchantId, period).execute(tx);
        const flows = rows.map(
          ({ cause_type: causeType, is_of_invoice: isOfInvoice, is_within: isWithin, ...row }): Flow => ({
            ...row,
            causeType,
            isOfInvoice,
            isWithin,
            entries: Number(row.entries),
            amount: BigInt(row.amount),
          }),
        );
        return statementsOf(balances, flows);
      }),
  );
}

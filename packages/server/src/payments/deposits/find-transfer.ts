import { Fail } from '../../platform/fail.ts';
import type { PaymentView, TransactionRow } from '../reads/queries.ts';

const invalidTxId = (message: string) => new Fail('invalid_request', { message, param: 'tx_id' });

/**
 * Finds the one matching transfer of this name: a transaction id, or `<tx_id>:<index>` if the transaction has several.
 *
 * @throws Fail `invalid_request` with param `tx_id`
 */
export function findTransfer(
  { transactions }: PaymentView,
  text: string,
  wanted: { matches: (transfer: TransactionRow) => boolean; description: string },
): TransactionRow {
  const [, name = text, index] = /^(.+):(\d{1,9})$/.exec(text) ?? [];
  const own = transactions.filter(wanted.matches);
  const exact = own.filter((t) => t.tx_id === name && (index === undefined || t.index === Number(index)));
  const [only, ...others] = exact.length > 0 ? exact : own.filter((t) => t.tx_id === text);
  if (only === undefined) throw invalidTxId(`tx_id must name ${wanted.description}.`);
  if (others.length > 0)
    throw invalidTxId('This transaction holds several such transfers: name one as <tx_id>:<index>.');
  return only;
}

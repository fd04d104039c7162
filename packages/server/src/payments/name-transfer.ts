import { Fail } from '../platform/fail.ts';
import type { PaymentView, TransactionRow } from './queries.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'tx_id' });

/**
 * The one transfer of a payment that is of a kind and goes by this name: its transaction, or `<tx_id>:<index>` where that
 * holds several.
 *
 * @throws Fail `invalid_request` with param `tx_id`
 */
export function findTransfer(
  { transactions }: PaymentView,
  text: string,
  wanted: { is: (transfer: TransactionRow) => boolean; called: string },
): TransactionRow {
  const [, name = text, index] = /^(.+):(\d{1,9})$/.exec(text) ?? [];
  const own = transactions.filter(wanted.is);
  const exact = own.filter((t) => t.tx_id === name && (index === undefined || t.index === Number(index)));
  const [only, ...others] = exact.length > 0 ? exact : own.filter((t) => t.tx_id === text);
  if (only === undefined) throw refuse(`tx_id must name ${wanted.called}.`);
  if (others.length > 0)
    throw refuse('This transaction holds several such transfers: name one as <tx_id>:<index>.');
  return only;
}

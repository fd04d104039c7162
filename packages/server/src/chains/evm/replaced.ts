import { type SignedTx, UnbuildableTransfer } from '../port/port.ts';
import { type Call, readSigned, type SignedContent } from './transaction.ts';

const SEQUENCE_FORM = /^(0|[1-9][0-9]{0,14})$/;

/** @throws UnbuildableTransfer */
export function nonceOf(sequence: string | undefined): number {
  if (sequence === undefined || !SEQUENCE_FORM.test(sequence)) {
    throw new UnbuildableTransfer('a transaction on this network needs a reserved sequence');
  }
  return Number(sequence);
}

/**
 * Reads the transaction that another version replaces. Contracts, owners and wallets may have changed since it was signed: for a version
 * with other contents the signer would take this database for a copy.
 *
 * @param call what the version would do; undefined: it only uses the sequence up
 * @throws UnbuildableTransfer where they are no versions of one transaction
 */
export function readReplaced({ raw }: SignedTx, nonce: number, call: Call | undefined): SignedContent {
  const replaced = readSigned(raw);
  if (replaced === undefined || replaced.nonce !== nonce) {
    throw new UnbuildableTransfer('what is replaced has another sequence');
  }
  const isSame =
    call === undefined ||
    (['to', 'data', 'value'] as const).every((field) => replaced[field] === call[field]);
  if (!isSame) throw new UnbuildableTransfer('what is replaced has other contents');
  return replaced;
}

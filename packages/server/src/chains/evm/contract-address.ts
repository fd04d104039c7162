import { checkErc20Address, formatErc20Address } from '../addresses/erc20.ts';

/**
 * The canonical (EIP-55) spelling of a contract's address. The contracts of tokens are addresses too, though nobody is
 * paid there.
 *
 * @throws RangeError with what is wrong
 */
export function canonicalContract(text: string): string {
  const { ok, code, canonical } = checkErc20Address(text);
  if (ok) return canonical;
  if (code === 'token_contract') return formatErc20Address(Buffer.from(text.slice(2), 'hex'));
  if (code === 'format') throw new RangeError('must be 0x and 40 hex digits');
  if (code === 'checksum')
    throw new RangeError('has a wrong checksum: compare it with its source, a letter is wrong');
  throw new RangeError('is an address that no contract can have');
}

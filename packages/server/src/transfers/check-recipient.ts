import type { Network } from '@florin/contract/money';
import { type AddressCheck, checkAddress } from '../chains/index.ts';

const ADDRESS_WORDS: Record<string, string> = {
  format: 'This is not an address of the network.',
  checksum: 'The checksum of the address is wrong: a character was mistyped.',
  zero: 'Nobody holds the key of this address: money sent there is lost.',
  token_contract: 'This is the contract of a token, not a wallet.',
  token_account: 'This is a token account; give the address of its owner.',
  program: 'This address belongs to a program, not to a wallet.',
};

export interface Recipient {
  /** The one spelling of the address that is sent to. */
  canonical: string;
  /** Why nothing may be sent there, for people; undefined where it may. */
  fault: string | undefined;
  /** The same for programs. */
  code: AddressCheck['code'];
}

/** Judges the text of an address that money is to be sent to. Risk lists are asked apart (`screen`). */
export function checkRecipient(
  network: Network,
  address: string,
  { allowProgramOwned }: { allowProgramOwned: boolean },
): Recipient {
  const { ok, canonical, code } = checkAddress(network, address, { allowProgramOwned });
  if (ok) return { canonical, fault: undefined, code: undefined };
  return {
    canonical,
    fault: ADDRESS_WORDS[code ?? ''] ?? 'The address cannot be paid.',
    code: code ?? 'format',
  };
}

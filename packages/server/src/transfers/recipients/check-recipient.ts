import type { Network } from '@florin/contract/money';
import { checkAddress } from '../../chains/addresses/index.ts';
import type { AddressCheck } from '../../chains/port/index.ts';

const ADDRESS_MESSAGES: Record<string, string> = {
  format: 'This is not an address of the network.',
  checksum: 'The checksum of the address is wrong: a character was mistyped.',
  zero: 'Nobody holds the key of this address: money sent there is lost.',
  token_contract: 'This is the contract of a token, not a wallet.',
  token_account: 'This is a token account; give the address of its owner.',
  program: 'This address belongs to a program, not to a wallet.',
};

export interface Recipient {
  /** The canonical spelling of the address. */
  canonical: string;
  /** Why nothing may be sent there, a sentence for people; undefined where the address is fine. */
  fault: string | undefined;
  /** The same as a code for programs. */
  code: AddressCheck['code'];
}

/** Checks the text of a recipient's address. `screen` checks risk lists. */
export function checkRecipient(
  network: Network,
  address: string,
  { allowProgramOwned }: { allowProgramOwned: boolean },
): Recipient {
  const { ok, canonical, code } = checkAddress(network, address, { allowProgramOwned });
  if (ok) return { canonical, fault: undefined, code: undefined };
  return {
    canonical,
    fault: ADDRESS_MESSAGES[code ?? ''] ?? 'The address cannot be paid.',
    code: code ?? 'format',
  };
}

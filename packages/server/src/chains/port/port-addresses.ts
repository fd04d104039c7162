/** BIP 32: the highest number of an address that a public key alone can derive. */
export const DEPOSIT_INDEX_MAX = 2 ** 31 - 1;

export interface DepositAddress {
  /** Shown to the payer, canonical. */
  address: string;
  /** Its entry for `ScanQuery.watch`: opaque, store it beside the address. */
  watch: string;
}

export interface ValidateOptions {
  /** Accept addresses that no private key controls (multisig vaults on spl). */
  allowProgramOwned?: boolean;
  /** Read the chain too, for warnings that the text alone cannot give. */
  online?: boolean;
}

export type AddressFault =
  | 'format'
  | 'checksum'
  | 'zero'
  | 'token_contract'
  | 'token_account'
  | 'program'
  | 'unsupported';

export interface AddressCheck {
  ok: boolean;
  /** The spelling under which the address is compared and stored; the text as given when it is refused. */
  canonical: string;
  /** Why it is refused; absent when it is accepted. */
  code?: AddressFault;
  /** For display only: `no_checksum`, `program_owned`, `contract`. */
  warnings: string[];
}

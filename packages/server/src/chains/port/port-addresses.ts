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

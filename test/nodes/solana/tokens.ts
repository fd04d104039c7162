import { type Address, address, getAddressDecoder, type MaybeEncodedAccount } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';

export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

/** Of both programs; what Token-2022 adds comes behind a byte that says which kind of account it is. */
const ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;

export interface TokenAmount {
  amount: string;
  decimals: number;
  uiAmount: number | null;
  uiAmountString: string;
}

export interface TokenAccount {
  program: Address;
  mint: Address;
  owner: Address;
  amount: bigint;
}

/** @returns undefined where it is no account that holds tokens */
export function readTokenAccount(account: MaybeEncodedAccount): TokenAccount | undefined {
  if (!account.exists) return undefined;
  const { data, programAddress: program } = account;
  const extended = program === TOKEN_2022 && data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === 2;
  const plain =
    data.length === ACCOUNT_BYTES && (program === TOKEN_PROGRAM_ADDRESS || program === TOKEN_2022);
  // Its byte 108 is the state: 0 is an account that nobody has initialized.
  if ((!extended && !plain) || data[108] === 0) return undefined;
  const bytes = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return {
    program,
    mint: getAddressDecoder().decode(data, 0),
    owner: getAddressDecoder().decode(data, 32),
    amount: bytes.getBigUint64(64, true),
  };
}

/** @returns undefined where it is no mint */
export function readDecimals(account: MaybeEncodedAccount): number | undefined {
  if (!account.exists || account.data.length < MINT_BYTES) return undefined;
  const { programAddress: program } = account;
  if (program !== TOKEN_PROGRAM_ADDRESS && program !== TOKEN_2022) return undefined;
  return account.data.length === ACCOUNT_BYTES ? undefined : account.data[44];
}

export function tokenAmount(amount: bigint, decimals: number): TokenAmount {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  const uiAmountString = fraction === '' ? digits.slice(0, cut) : `${digits.slice(0, cut)}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

import {
  type Address,
  getAddress,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
} from 'viem';
import type { Fees } from './fees.ts';

/** What a transaction does, without who sends it and what it offers. */
export interface Call {
  to: Address;
  data: Hex;
  value: bigint;
  gas: bigint;
  /** It carries EIP-7702 authorizations, which the signer makes. */
  isDelegating: boolean;
}

export interface UnsignedTransaction extends Call, Fees {
  chainId: number;
  nonce: number;
}

export interface Authorization {
  chainId: number;
  address: Address;
  nonce: number;
  r: Hex;
  s: Hex;
  yParity: number;
}

/** A signed transaction as its bytes say, addresses in EIP-55. */
export interface SignedContent extends UnsignedTransaction {
  authorizations: readonly Authorization[];
  txId: Hex;
}

type SignedRaw = `0x02${string}` | `0x04${string}`;

/** EIP-2718 bytes without a signature: type 2, or type 4 with an empty list where authorizations are to be added. */
export function serializeUnsigned(transaction: UnsignedTransaction): Hex {
  const { isDelegating, ...fields } = transaction;
  return isDelegating
    ? serializeTransaction({ ...fields, type: 'eip7702', authorizationList: [] })
    : serializeTransaction({ ...fields, type: 'eip1559' });
}

const RAW_FORM = /^0x0[24](?:[0-9a-f]{2})+$/;

/**
 * Reads signed bytes of type 2 or 4 in lower case, and nothing else: other spellings of the same bytes would be other text
 * for one transaction.
 *
 * @returns undefined where they are none
 */
export function readSigned(raw: string): SignedContent | undefined {
  if (!isSignedRaw(raw)) return undefined;
  try {
    const parsed = parseTransaction(raw);
    if (parsed.type !== 'eip1559' && parsed.type !== 'eip7702') return undefined;
    // Without a signature, with an access list, or of leading zeros: nothing that we sign.
    if (parsed.r === undefined || (parsed.accessList?.length ?? 0) > 0) return undefined;
    if (serializeTransaction(parsed) !== raw) return undefined;
    const authorizations = parsed.type === 'eip7702' ? parsed.authorizationList.map(plain) : [];
    return {
      chainId: parsed.chainId,
      nonce: parsed.nonce ?? 0,
      to: getAddress(parsed.to ?? '0x'),
      data: parsed.data ?? '0x',
      value: parsed.value ?? 0n,
      gas: parsed.gas ?? 0n,
      maxFeePerGas: parsed.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
      isDelegating: parsed.type === 'eip7702',
      authorizations,
      txId: keccak256(raw),
    };
  } catch {
    return undefined;
  }
}

/** Who signed the bytes, in EIP-55; undefined where nobody did. */
export async function senderOf(raw: string): Promise<Address | undefined> {
  if (!isSignedRaw(raw)) return undefined;
  try {
    return await recoverTransactionAddress({ serializedTransaction: raw });
  } catch {
    return undefined;
  }
}

function isSignedRaw(raw: string): raw is SignedRaw {
  return RAW_FORM.test(raw);
}

function plain(one: {
  chainId: number;
  address: Address;
  nonce: number;
  r?: Hex | undefined;
  s?: Hex | undefined;
  yParity?: number | undefined;
}): Authorization {
  const { chainId, nonce, r = '0x', s = '0x', yParity = 0 } = one;
  return { chainId, address: getAddress(one.address), nonce, r, s, yParity };
}

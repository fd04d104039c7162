import { secp256k1 } from '@noble/curves/secp256k1.js';
import { addressBytes, addressOf } from './address.ts';
import { bytesOf, concat, keccak, numberOf } from './bytes.ts';
import { BadEncoding, decodeRlp, encodeRlp, type Rlp } from './rlp.ts';

const EIP_1559 = 2;
const EIP_7702 = 4;
const AUTHORIZATION_MAGIC = Uint8Array.of(5);
const ADDRESS_BYTES = 20;

/** A transaction without signature: EIP-1559, or EIP-7702 where the sender's transaction carries authorizations. */
export interface UnsignedTransaction {
  type: 2 | 4;
  chainId: bigint;
  nonce: bigint;
  maxPriorityFeePerGas: bigint;
  maxFeePerGas: bigint;
  gas: bigint;
  /** With checksum; null creates a contract. */
  to: string | null;
  value: bigint;
  data: Uint8Array;
  /** Entries of its access list. */
  accessList: number;
}

/** A signed permission of an address to run `delegate`'s code (EIP-7702). */
export interface Authorization {
  chainId: bigint;
  delegate: string;
  nonce: bigint;
  yParity: number;
  r: bigint;
  s: bigint;
}

/**
 * Reads the bytes of an unsigned transaction. An authorization list must be empty: the signer makes its own.
 *
 * @throws BadEncoding unless the bytes are the one form of that transaction
 */
export function decodeTransaction(bytes: Uint8Array): UnsignedTransaction {
  const [type] = bytes;
  if (type !== EIP_1559 && type !== EIP_7702) throw new BadEncoding('only types 2 and 4 are signed');
  const fields = decodeRlp(bytes.subarray(1));
  if (fields instanceof Uint8Array) throw new BadEncoding('a transaction is a list');
  const count = type === EIP_1559 ? 9 : 10;
  if (fields.length !== count)
    throw new BadEncoding(`an unsigned transaction of type ${type} has ${count} fields`);
  const [chainId, nonce, priority, maxFee, gas, to, value, data, accessList, authorizations] = fields;
  if (type === EIP_7702 && listOf(authorizations).length > 0)
    throw new BadEncoding('the authorization list must be empty: the signer makes it');
  const decoded: UnsignedTransaction = {
    type,
    chainId: integer(chainId, 8),
    nonce: integer(nonce, 8),
    maxPriorityFeePerGas: integer(priority, 32),
    maxFeePerGas: integer(maxFee, 32),
    gas: integer(gas, 8),
    to: recipient(to),
    value: integer(value, 32),
    data: stringOf(data),
    accessList: accessEntries(accessList),
  };
  if (type === EIP_7702 && decoded.to === null) throw new BadEncoding('type 4 creates no contract');
  return decoded;
}

function stringOf(field: Rlp | undefined): Uint8Array {
  if (field instanceof Uint8Array) return field;
  throw new BadEncoding('a list stands where bytes should');
}

function listOf(field: Rlp | undefined): readonly Rlp[] {
  if (field === undefined || field instanceof Uint8Array)
    throw new BadEncoding('bytes stand where a list should');
  return field;
}

function integer(field: Rlp | undefined, bytesMax: number): bigint {
  const bytes = stringOf(field);
  if (bytes[0] === 0) throw new BadEncoding('a number has a leading zero');
  if (bytes.length > bytesMax) throw new BadEncoding('a number is too large');
  return numberOf(bytes);
}

function recipient(field: Rlp | undefined): string | null {
  const bytes = stringOf(field);
  return bytes.length === 0 ? null : addressOf(exactly(bytes, ADDRESS_BYTES));
}

function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new BadEncoding(`${bytes.length} bytes stand where ${length} should`);
  return bytes;
}

function accessEntries(field: Rlp | undefined): number {
  const entries = listOf(field);
  for (const entry of entries) {
    const [address, slots, ...more] = listOf(entry);
    if (more.length > 0) throw new BadEncoding('an access list has pairs');
    exactly(stringOf(address), ADDRESS_BYTES);
    for (const slot of listOf(slots)) exactly(stringOf(slot), 32);
  }
  return entries.length;
}

/** The bytes of a transaction with an empty access list; with a signature when there is one. */
function encode(
  tx: UnsignedTransaction,
  authorizations: readonly Authorization[],
  signature: readonly Rlp[],
): Uint8Array {
  const fields: Rlp[] = [
    ...[tx.chainId, tx.nonce, tx.maxPriorityFeePerGas, tx.maxFeePerGas, tx.gas].map(bytesOf),
    tx.to === null ? new Uint8Array() : addressBytes(tx.to),
    bytesOf(tx.value),
    tx.data,
    [],
    ...(tx.type === EIP_7702 ? [authorizations.map(authorizationFields)] : []),
    ...signature,
  ];
  return concat(Uint8Array.of(tx.type), encodeRlp(fields));
}

const authorizationFields = ({ chainId, delegate, nonce, yParity, r, s }: Authorization): Rlp => [
  bytesOf(chainId),
  addressBytes(delegate),
  bytesOf(nonce),
  bytesOf(BigInt(yParity)),
  bytesOf(r),
  bytesOf(s),
];

/**
 * Signs a transaction with an empty access list. The same call gives the same bytes (RFC 6979).
 *
 * @returns what is sent, and its hash
 */
export function signTransaction(
  tx: UnsignedTransaction,
  authorizations: readonly Authorization[],
  privateKey: Uint8Array,
): { raw: Uint8Array; hash: Uint8Array } {
  if (tx.accessList > 0) throw new RangeError('transactions with access lists are not signed');
  const { yParity, r, s } = signDigest(keccak(encode(tx, authorizations, [])), privateKey);
  const raw = encode(tx, authorizations, [bytesOf(BigInt(yParity)), bytesOf(r), bytesOf(s)]);
  return { raw, hash: keccak(raw) };
}

/** EIP-7702, by the address that delegates. */
export function signAuthorization(
  { chainId, delegate, nonce }: Pick<Authorization, 'chainId' | 'delegate' | 'nonce'>,
  privateKey: Uint8Array,
): Authorization {
  const fields = encodeRlp([bytesOf(chainId), addressBytes(delegate), bytesOf(nonce)]);
  return { chainId, delegate, nonce, ...signDigest(keccak(AUTHORIZATION_MAGIC, fields), privateKey) };
}

function signDigest(digest: Uint8Array, privateKey: Uint8Array): { yParity: number; r: bigint; s: bigint } {
  const bytes = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' });
  const { recovery, r, s } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  // 2 and 3 name points beyond the order, which nobody has ever met.
  if (recovery !== 0 && recovery !== 1) throw new Error('a signature that Ethereum cannot write');
  return { yParity: recovery, r, s };
}

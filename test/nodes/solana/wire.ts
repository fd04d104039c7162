import { createPublicKey, verify } from 'node:crypto';
import {
  type Address,
  type CompiledTransactionMessage,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import { invalidParams } from './errors.ts';

/** The most that fits into a packet of the network. */
const MOST_BYTES = 1_232;
const MOST_CHARACTERS = { base64: 1_644, base58: 1_683 };
const TYPE = 'solana_transaction::versioned::VersionedTransaction';

type Message = Extract<CompiledTransactionMessage, { version: 'legacy' | 0 }> & { lifetimeToken: string };

export interface WireTransaction {
  signature: string;
  bytes: Uint8Array;
  transaction: Transaction;
  message: Message;
  /** All accounts of the message in its order: there are no lookup tables here. */
  keys: Address[];
}

/** @throws RpcError as agave's `decode_and_deserialize` does */
export function readTransaction(text: string, encoding: 'base64' | 'base58'): WireTransaction {
  const bytes = readBytes(text, encoding);
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    const message = readMessage(transaction.messageBytes);
    const [first] = Object.values(transaction.signatures);
    const signature = getBase58Decoder().decode(first ?? new Uint8Array(64));
    return { signature, bytes, transaction, message, keys: [...message.staticAccounts] };
  } catch (error) {
    throw invalidParams(`failed to deserialize ${TYPE}: ${error instanceof Error ? error.message : ''}`);
  }
}

/** @throws Error where it is no message that this node knows */
export function readMessage(bytes: ArrayLike<number>): Message {
  const decoded = getCompiledTransactionMessageDecoder().decode(Uint8Array.from(bytes));
  if (decoded.version !== 'legacy' && decoded.version !== 0)
    throw new Error(`version ${String(decoded.version)} is unknown to this node`);
  if (decoded.version === 0 && (decoded.addressTableLookups ?? []).length > 0)
    throw new Error('this node has no address lookup tables');
  return decoded;
}

function readBytes(text: string, encoding: 'base64' | 'base58'): Uint8Array {
  const most = MOST_CHARACTERS[encoding];
  const limits = `(max: encoded/raw ${most}/${MOST_BYTES})`;
  if (text.length > most)
    throw invalidParams(`${encoding} encoded ${TYPE} too large: ${text.length} bytes ${limits}`);
  const bytes = encoding === 'base64' ? fromBase64(text) : fromBase58(text);
  if (bytes.length > MOST_BYTES)
    throw invalidParams(`decoded ${TYPE} too large: ${bytes.length} bytes (max: ${MOST_BYTES} bytes)`);
  return bytes;
}

export function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalidParams('invalid base64 encoding: InvalidByte');
  return bytes;
}

function fromBase58(text: string): Uint8Array {
  try {
    return Uint8Array.from(getBase58Encoder().encode(text));
  } catch {
    throw invalidParams('invalid base58 encoding: InvalidCharacter');
  }
}

/** The first bytes of an Ed25519 key in DER. */
const DER = Buffer.from('302a300506032b6570032100', 'hex');

/** By OpenSSL, as LiteSVM's own check is off: simulations take unsigned transactions. */
export function isSigned({ transaction, message }: WireTransaction): boolean {
  const signatures = Object.entries(transaction.signatures);
  if (signatures.length !== message.header.numSignerAccounts) return false;
  return message.staticAccounts.slice(0, signatures.length).every((account) => {
    const signature = transaction.signatures[account];
    if (signature == null) return false;
    const key = Buffer.concat([DER, Buffer.from(getAddressEncoder().encode(account))]);
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(transaction.messageBytes), publicKey, Buffer.from(signature));
  });
}

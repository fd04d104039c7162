import type { Asset, Network } from '@florin/contract/money';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { keccak256 } from '../addresses/keccak.ts';
import type { SignedTx } from '../port/port.ts';
import type { ChargeBody } from './charge-rules.ts';
import { isSignedBy, type SimulatedWallet, signMessage } from './wallet.ts';

/** The signed body of a transaction. It contains the item ids, as the calldata or memo of a real batch does. */
export interface TransferBody {
  /** The merchant whose chain it is for, like a chain id: bytes made for another chain are refused. */
  chainId: string;
  network: Network;
  sender: string;
  asset: Asset;
  batchId: string;
  /** `place` in the batch; absent in bytes of earlier releases, whose batch was this transaction alone. */
  items: { id: string; place?: number; to: string; amount: string; memo?: string }[];
  /** The one item is pulled from a payer's wallet instead of the sender's. */
  charge?: ChargeBody;
  /** Native coin offered, decimal digits. */
  fee: string;
  sequence?: string;
  timestampMs?: number;
  expirationMs?: number;
  lastValidHeight?: string;
}

const RAW_FORM = /^([A-Za-z0-9_-]+)\.([0-9a-f]+)$/;

const SEALED_KEPT_MAX = 1_000;
/**
 * The bytes that this process signed last. Checking a signature takes ten times as long as anything else the chain does,
 * and nearly everything broadcast here was signed here.
 */
const sealed = new Set<string>();

function rememberSealed(raw: string): void {
  const oldest = sealed.size >= SEALED_KEPT_MAX ? sealed.values().next().value : undefined;
  if (oldest !== undefined) sealed.delete(oldest);
  sealed.add(raw);
}

/** Signs a body. The same body gives the same bytes and the same id. */
export function seal(body: TransferBody, wallet: SimulatedWallet): SignedTx {
  const message = Buffer.from(JSON.stringify(body));
  const signature = signMessage(body.network, wallet, message);
  const raw = `${message.toString('base64url')}.${Buffer.from(signature).toString('hex')}`;
  rememberSealed(raw);
  return signedTx(body, { raw, message, signature });
}

/** Parses bytes of `seal` back into what it returned. */
export function readSealed(raw: string): SignedTx {
  const [message = '', signature = ''] = raw.split('.');
  return signedTx(readBody(raw), {
    raw,
    message: Buffer.from(message, 'base64url'),
    signature: Buffer.from(signature, 'hex'),
  });
}

function signedTx(
  body: TransferBody,
  { raw, message, signature }: { raw: string; message: Uint8Array; signature: Uint8Array },
): SignedTx {
  return {
    network: body.network,
    txId: idOf(body.network, message, signature),
    raw,
    sender: body.sender,
    itemIds: body.items.map((item) => item.id),
    ...(body.sequence === undefined ? {} : { sequence: body.sequence, feeLimit: BigInt(body.fee) }),
    ...validityOf(body),
  };
}

function validityOf(body: TransferBody): Pick<SignedTx, 'validUntil'> {
  if (body.expirationMs !== undefined) return { validUntil: { timeMs: body.expirationMs } };
  if (body.lastValidHeight !== undefined) return { validUntil: { height: body.lastValidHeight } };
  return {};
}

/** The transaction id, as each network forms it: a hash of body and signature, a hash of the body, or the signature. */
function idOf(network: Network, message: Uint8Array, signature: Uint8Array): string {
  switch (network) {
    case 'erc20':
      return `0x${Buffer.from(keccak256(Buffer.concat([message, signature]))).toString('hex')}`;
    case 'trc20':
      return Buffer.from(sha256(message)).toString('hex');
    case 'spl':
      return base58.encode(signature);
  }
}

/** An id of the network's form for a transaction that is not ours and has no bytes. */
export function foreignTxId(network: Network, name: string): string {
  const digest = sha512(Buffer.from(`florin foreign transaction ${name}`));
  if (network === 'spl') return base58.encode(digest);
  return `${network === 'erc20' ? '0x' : ''}${Buffer.from(digest.subarray(0, 32)).toString('hex')}`;
}

/** The body of bytes that this chain has accepted before. */
export function readBody(raw: string): TransferBody {
  const [message = ''] = raw.split('.');
  return JSON.parse(Buffer.from(message, 'base64url').toString('utf8'));
}

/** The places of a transaction's items in its batch, in their order. */
export const placesOf = (body: TransferBody): number[] => body.items.map(({ place }, i) => place ?? i);

/** The address whose coins a transaction moves: the sender's, or the charged payer's. */
export const payerOf = (body: TransferBody): string => body.charge?.mandate.payer ?? body.sender;

/** The fault that a node finds in the bytes without reading any state; undefined when they are valid. */
export function findFault(tx: SignedTx, network: Network, chainId: string): string | undefined {
  const match = RAW_FORM.exec(tx.raw);
  if (match?.[1] === undefined || match[2] === undefined) return 'malformed';
  const message = Buffer.from(match[1], 'base64url');
  const signature = Buffer.from(match[2], 'hex');
  const body = parseBody(message);
  if (body === undefined) return 'malformed';
  if (body.network !== network || tx.network !== network) return 'wrong_network';
  if (body.chainId !== chainId) return 'wrong_chain';
  const isSigned = sealed.has(tx.raw) || isSignedBy(network, body.sender, message, signature);
  if (!isSigned) return 'invalid_signature';
  if (tx.txId !== idOf(network, message, signature)) return 'wrong_id';
  return matchesBody(tx, body) ? undefined : 'malformed';
}

function parseBody(message: Buffer): TransferBody | undefined {
  try {
    const value: unknown = JSON.parse(message.toString('utf8'));
    return isBody(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Checks only the fields needed to verify the signature, which covers the rest, as only `seal` signs. */
function isBody(value: unknown): value is TransferBody {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'network' in value &&
    'chainId' in value &&
    'sender' in value &&
    typeof value.sender === 'string' &&
    'items' in value &&
    Array.isArray(value.items)
  );
}

function matchesBody(tx: SignedTx, body: TransferBody): boolean {
  // A payment to ourselves pays nobody, so the name of its item does not matter.
  const isToItself = body.items.length === 1 && body.items[0]?.to === body.sender;
  const isSame = (id: string, i: number) => isToItself || id === body.items[i]?.id;
  return (
    tx.sender === body.sender &&
    tx.sequence === body.sequence &&
    tx.itemIds.length === body.items.length &&
    tx.itemIds.every(isSame)
  );
}

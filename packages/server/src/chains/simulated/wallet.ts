import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import * as secp256k1 from 'tiny-secp256k1';
import { formatErc20Address } from '../addresses/erc20.ts';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { keccak256 } from '../addresses/keccak.ts';
import { formatSplAddress, parseSplAddress } from '../addresses/spl.ts';
import { formatTrc20Address } from '../addresses/trc20.ts';
import type { KeyRef } from '../port/port.ts';

/** A key of the simulated world, derived from public names: never use it for anything of value. */
export interface SimulatedWallet {
  address: string;
  secretKey: Uint8Array;
}

const WALLETS_KEPT_MAX = 3_000;
const wallets = new Map<string, SimulatedWallet>();

/** The wallet of a label: always the same, on every node. */
export function walletOfLabel(network: Network, label: string): SimulatedWallet {
  const name = `florin simulated ${network} ${label}`;
  const kept = wallets.get(name);
  if (kept !== undefined) return kept;
  const secretKey = sha256(Buffer.from(name));
  const wallet = { secretKey, address: addressOfSecret(network, secretKey) };
  const oldest = wallets.size >= WALLETS_KEPT_MAX ? wallets.keys().next().value : undefined;
  if (oldest !== undefined) wallets.delete(oldest);
  wallets.set(name, wallet);
  return wallet;
}

/** What stands for the signature of any wallet of the simulated world, in hex: the sandbox plays them all. */
export const simulatedSignature = ({ address, text }: { address: string; text: string }): string =>
  `0x${Buffer.from(sha256(Buffer.from(`florin simulated signature ${address} ${text}`))).toString('hex')}`;

/** A merchant's own wallet on a network. */
export function walletOf(merchantId: string, network: Network, keyRef: KeyRef): SimulatedWallet {
  return walletOfLabel(network, `wallet ${merchantId} ${keyRef.replace(':', ' ')}`);
}

function addressOfSecret(network: Network, secretKey: Uint8Array): string {
  if (network === 'spl') return formatSplAddress(ed25519.getPublicKey(secretKey));
  return addressOfSecp256k1(network, secp256k1.pointFromScalar(secretKey));
}

function addressOfSecp256k1(network: 'erc20' | 'trc20', publicKey: Uint8Array | null): string {
  if (publicKey === null) throw new RangeError('no point of the curve');
  const account = accountOfPublicKey(publicKey);
  return network === 'erc20' ? formatErc20Address(account) : formatTrc20Address(account);
}

function digestOf(network: 'erc20' | 'trc20', message: Uint8Array): Uint8Array {
  return network === 'erc20' ? keccak256(message) : sha256(message);
}

/** The prefix of a 32-byte ed25519 key in the formats that node:crypto reads (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

const ed25519Keys = new WeakMap<SimulatedWallet, KeyObject>();

/** node:crypto signs twenty times as fast as a library in JavaScript. */
function ed25519KeyOf(wallet: SimulatedWallet): KeyObject {
  const kept = ed25519Keys.get(wallet);
  if (kept !== undefined) return kept;
  const der = Buffer.concat([PKCS8_HEAD, wallet.secretKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  ed25519Keys.set(wallet, key);
  return key;
}

function ed25519PublicKey(key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, key]), format: 'der', type: 'spki' });
}

/** ed25519 over the message on spl, else recoverable secp256k1 over its digest; both are deterministic. */
export function signMessage(network: Network, wallet: SimulatedWallet, message: Uint8Array): Uint8Array {
  if (network === 'spl') return sign(null, message, ed25519KeyOf(wallet));
  const { recoveryId, signature } = secp256k1.signRecoverable(digestOf(network, message), wallet.secretKey);
  return Uint8Array.of(recoveryId, ...signature);
}

/** Whether the key of `sender` signed the message. Never throws. */
export function isSignedBy(
  network: Network,
  sender: string,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    if (network === 'spl') {
      const key = parseSplAddress(sender);
      return key !== undefined && verify(null, message, ed25519PublicKey(key), signature);
    }
    const [recoveryId, ...rest] = signature;
    const digest = digestOf(network, message);
    const publicKey = secp256k1.recover(
      digest,
      Uint8Array.from(rest),
      recoveryId as secp256k1.RecoveryIdType,
    );
    return addressOfSecp256k1(network, publicKey) === sender;
  } catch {
    return false;
  }
}

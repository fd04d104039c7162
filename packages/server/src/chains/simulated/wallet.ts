import type { Network } from '@florin/contract/money';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { formatErc20Address } from '../addresses/erc20.ts';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { keccak256 } from '../addresses/keccak.ts';
import { formatSplAddress, parseSplAddress } from '../addresses/spl.ts';
import { formatTrc20Address } from '../addresses/trc20.ts';
import type { KeyRef } from '../port.ts';

/** A key of the simulated world. It is derived from public names: nothing of value may ever lie under it. */
export interface SimulatedWallet {
  address: string;
  secretKey: Uint8Array;
}

const WALLETS_KEPT_MAX = 3_000;
const wallets = new Map<string, SimulatedWallet>();

/** The wallet behind a label: the same on every node, for ever. */
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

/** A merchant's own wallet on a network. */
export function walletOf(merchantId: string, network: Network, keyRef: KeyRef): SimulatedWallet {
  return walletOfLabel(network, `wallet ${merchantId} ${keyRef.replace(':', ' ')}`);
}

function addressOfSecret(network: Network, secretKey: Uint8Array): string {
  if (network === 'spl') return formatSplAddress(ed25519.getPublicKey(secretKey));
  return addressOfSecp256k1(network, secp256k1.getPublicKey(secretKey));
}

function addressOfSecp256k1(network: 'erc20' | 'trc20', publicKey: Uint8Array): string {
  const account = accountOfPublicKey(publicKey);
  return network === 'erc20' ? formatErc20Address(account) : formatTrc20Address(account);
}

function digestOf(network: 'erc20' | 'trc20', message: Uint8Array): Uint8Array {
  return network === 'erc20' ? keccak256(message) : sha256(message);
}

/** ed25519 over the message on spl, else recoverable secp256k1 over its digest; both are deterministic. */
export function signMessage(network: Network, wallet: SimulatedWallet, message: Uint8Array): Uint8Array {
  if (network === 'spl') return ed25519.sign(message, wallet.secretKey);
  return secp256k1.sign(digestOf(network, message), wallet.secretKey, {
    prehash: false,
    format: 'recovered',
  });
}

/** True when the key behind `sender` signed the message. Never throws. */
export function isSignedBy(
  network: Network,
  sender: string,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    if (network === 'spl') {
      const key = parseSplAddress(sender);
      return key !== undefined && ed25519.verify(signature, message, key);
    }
    const digest = digestOf(network, message);
    const publicKey = secp256k1.recoverPublicKey(signature, digest, { prehash: false });
    return addressOfSecp256k1(network, publicKey) === sender;
  } catch {
    return false;
  }
}

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { solanaAddressOf } from '../../../packages/signer/src/solana/address.ts';
import { publicTestKey } from '../../nodes/solana/controls.ts';

// Wallets for tests. A wallet's key is computed from its name, so it is public.

/** What stands before the 32 bytes of a private key. */
const PKCS8_ED25519 = '302e020100300506032b657004220420';
const SIGNATURE_BYTES = 64;

const keyOf = (name: string) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from(PKCS8_ED25519, 'hex'), publicTestKey(name)]),
    format: 'der',
    type: 'pkcs8',
  });

export function walletOf(name: string): string {
  const exported = createPublicKey(keyOf(name)).export({ format: 'der', type: 'spki' });
  return solanaAddressOf(Uint8Array.from(exported.subarray(-32)));
}

/** As the wallet of that name signs a text or a message. */
export const signAs = (name: string, message: Uint8Array): Uint8Array =>
  Uint8Array.from(sign(null, message, keyOf(name)));

/** Of a transaction with one signer, whose signature is empty yet. @returns the parameters of `sendTransaction` */
export function signedBy(name: string, transaction: Uint8Array) {
  const signed = Buffer.from(transaction);
  signed.set(signAs(name, transaction.subarray(1 + SIGNATURE_BYTES)), 1);
  return [signed.toString('base64'), { encoding: 'base64', preflightCommitment: 'confirmed' }] as const;
}

import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import { invariant } from '../../platform/fail.ts';
import type { ConsoleDeps } from './users.ts';

// Passkeys are kept with their public keys as authenticators give them (COSE). A signer's policy names the same key as a
// SubjectPublicKeyInfo, which every cryptographic library reads.

/** A person's passkey, as a policy names it. */
export interface PasskeyPublicKey {
  credentialId: Buffer;
  name: string;
  /** SubjectPublicKeyInfo as DER, hex. */
  key: string;
  /** For people, who compare it by eye. */
  fingerprint: string;
  createdAtMs: number;
  usedAtMs: number | null;
}

const FINGERPRINT_DIGITS = 20;

/** The first 80 bits of a key's SHA-256: nobody finds another key with the same ones. The account page computes it, too. */
const fingerprintOf = (key: string): string =>
  createHash('sha256')
    .update(Buffer.from(key.slice(2), 'hex'))
    .digest('hex')
    .slice(0, FINGERPRINT_DIGITS)
    .replaceAll(/(.{4})(?=.)/g, '$1-');

/** A person's passkeys, oldest first. */
export async function listPublicKeys(
  { db }: Pick<ConsoleDeps, 'db'>,
  userId: string,
): Promise<PasskeyPublicKey[]> {
  const rows = await db
    .selectFrom('console_passkey')
    .select(['credential_id', 'name', 'public_key', 'created_at_ms', 'used_at_ms'])
    .where('user_id', '=', userId)
    .orderBy('created_at_ms')
    .execute();
  return await Promise.all(
    rows.map(async (row) => {
      const key = await publicKeyOf(row.public_key);
      return {
        credentialId: row.credential_id,
        name: row.name,
        key,
        fingerprint: fingerprintOf(key),
        createdAtMs: Number(row.created_at_ms),
        usedAtMs: row.used_at_ms === null ? null : Number(row.used_at_ms),
      };
    }),
  );
}

/** @param cose as authenticators give it */
export async function publicKeyOf(cose: Buffer): Promise<string> {
  const key = createPublicKey({ key: await jwkOf(cose), format: 'jwk' });
  return `0x${key.export({ format: 'der', type: 'spki' }).toString('hex')}`;
}

/**
 * The key in the one form that authenticators have for it (CTAP2), whichever the order of its parts was: no two passkeys have
 * the same one.
 *
 * @param cose as it came
 */
export async function canonicalKey(cose: Buffer): Promise<Buffer> {
  const key = createPublicKey({ key: await jwkOf(cose), format: 'jwk' });
  const { kty, x, y, n, e } = key.export({ format: 'jwk' });
  const part = (text = '') => new Uint8Array(Buffer.from(text, 'base64url'));
  const { isoCBOR } = await import('@simplewebauthn/server/helpers');
  const byKind: Record<string, [name: number, value: number | Uint8Array<ArrayBuffer>][]> = {
    EC: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, part(x)],
      [-3, part(y)],
    ],
    OKP: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, part(x)],
    ],
    RSA: [
      [1, 3],
      [3, -257],
      [-1, part(n)],
      [-2, part(e)],
    ],
  };
  return Buffer.from(isoCBOR.encode(new Map(byKind[kty ?? ''])));
}

async function jwkOf(bytes: Buffer): Promise<JsonWebKey> {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const key = decodeCredentialPublicKey(Uint8Array.from(bytes));
  const text = (value: Uint8Array | undefined) => Buffer.from(value ?? []).toString('base64url');
  if (cose.isCOSEPublicKeyEC2(key))
    return {
      kty: 'EC',
      crv: 'P-256',
      x: text(key.get(cose.COSEKEYS.x)),
      y: text(key.get(cose.COSEKEYS.y)),
    };
  if (cose.isCOSEPublicKeyOKP(key)) return { kty: 'OKP', crv: 'Ed25519', x: text(key.get(cose.COSEKEYS.x)) };
  invariant(cose.isCOSEPublicKeyRSA(key), 'passkeys are of three kinds');
  return { kty: 'RSA', n: text(key.get(cose.COSEKEYS.n)), e: text(key.get(cose.COSEKEYS.e)) };
}

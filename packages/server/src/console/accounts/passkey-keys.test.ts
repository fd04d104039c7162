import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { isPasskeyKey } from '@florin/signer/passkey';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { expect, test } from 'vitest';
import { canonicalKey, publicKeyOf } from './passkey-keys.ts';

const part = (text = '') => new Uint8Array(Buffer.from(text, 'base64url'));

/** As an authenticator gives it. */
function coseOf(key: KeyObject): Buffer {
  const { x, y, n, e } = key.export({ format: 'jwk' });
  const byKind: Record<string, [number, number | Uint8Array<ArrayBuffer>][]> = {
    ec: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, part(x)],
      [-3, part(y)],
    ],
    ed25519: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, part(x)],
    ],
    rsa: [
      [1, 3],
      [3, -257],
      [-1, part(n)],
      [-2, part(e)],
    ],
  };
  return Buffer.from(isoCBOR.encode(new Map(byKind[key.asymmetricKeyType ?? ''])));
}

/** In another order, and with a name of its own. */
function turned(cose: Buffer): Buffer {
  const parts = [...isoCBOR.decodeFirst<Map<number, number | Uint8Array<ArrayBuffer>>>(new Uint8Array(cose))];
  return Buffer.from(isoCBOR.encode(new Map([...parts.toReversed(), [2, part('AAAA')]])));
}

test('passkeys of each kind have the key that a policy takes', async () => {
  const keys = [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  ];
  for (const { publicKey } of keys) {
    const key = await publicKeyOf(coseOf(publicKey));
    expect(key).toBe(`0x${publicKey.export({ format: 'der', type: 'spki' }).toString('hex')}`);
    expect(isPasskeyKey(key)).toBe(true);
    // As it came is the one form, and parts in another order or more of them are the same key.
    const kept = coseOf(publicKey);
    expect(await canonicalKey(kept)).toEqual(kept);
    expect(await canonicalKey(turned(kept))).toEqual(kept);
  }
});

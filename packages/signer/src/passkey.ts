import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isSoundKey, type PasskeyKey, type PasskeyParts, SPKI_HEAD } from './approver-key.ts';
import { fromHex, isEqual, toHex } from './bytes.ts';
import { PASSKEY_PART_BYTES } from './protocol.ts';
import { type Statement, statementText } from './statement.ts';

// An approval by passkey: an assertion of WebAuthn whose challenge is the statement. A counter that goes back means nothing here:
// it shows a copied passkey to whoever signs people in, and this answer says the same thing however often it comes.

const DOMAIN = 'florin-approval-v1';
const TYPE = 'webauthn.get';
const RP_ID_HASH_BYTES = 32;
/** With flags and counter. */
const DATA_BYTES = 37;
const PRESENT_AND_VERIFIED = 0x05;
/** A new credential, which no answer brings, and flags that no standard has named yet. */
const REFUSED_FLAGS = 0x62;
const WITH_EXTENSIONS = 0x80;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;

const sha256 = (...parts: readonly (Uint8Array | string)[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.digest());
};

/** The 32 bytes that a browser asks a passkey to sign for a statement. */
export const approvalChallenge = (statement: Statement): Uint8Array =>
  sha256(DOMAIN, statementText(statement));

/** Whether this is the passkey's answer to the statement, given on a page of its origin by a person whom it verified. */
export function isAnsweredBy(
  { key, rpId, origin }: PasskeyKey,
  statement: Statement,
  { signature, authenticatorData, clientDataJSON }: PasskeyParts & { signature: Uint8Array },
): boolean {
  const [data, client] = [fromHex(authenticatorData), fromHex(clientDataJSON)];
  // The signer would refuse the whole request for it.
  if ([data, client, signature].some(({ length }) => length > PASSKEY_PART_BYTES)) return false;
  const challenge = Buffer.from(approvalChallenge(statement)).toString('base64url');
  return (
    isSaidOn(client, { challenge, origin }) &&
    isVerifiedFor(data, rpId) &&
    isSignature(key, Buffer.concat([data, sha256(client)]), signature)
  );
}

/** Whether an answer says that it was given on this passkey's page. Nothing is verified. */
export function isOfPage(
  { rpId, origin }: Pick<PasskeyKey, 'rpId' | 'origin'>,
  { authenticatorData, clientDataJSON }: PasskeyParts,
): boolean {
  const rpIdHash = fromHex(authenticatorData).subarray(0, RP_ID_HASH_BYTES);
  return isEqual(rpIdHash, sha256(rpId)) && readObject(fromHex(clientDataJSON))?.origin === origin;
}

/** Browsers may add names of their own. A page that stands inside of another one's is refused. */
function isSaidOn(client: Uint8Array, { challenge, origin }: { challenge: string; origin: string }): boolean {
  const said = readObject(client);
  return (
    said?.type === TYPE &&
    said.challenge === challenge &&
    said.origin === origin &&
    (said.crossOrigin === undefined || said.crossOrigin === false) &&
    said.topOrigin === undefined
  );
}

function readObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isVerifiedFor(data: Uint8Array, rpId: string): boolean {
  const flags = data[RP_ID_HASH_BYTES] ?? 0;
  const hasExtensions = (flags & WITH_EXTENSIONS) !== 0;
  return (
    isEqual(data.subarray(0, RP_ID_HASH_BYTES), sha256(rpId)) &&
    (hasExtensions ? data.length > DATA_BYTES : data.length === DATA_BYTES) &&
    (flags & PRESENT_AND_VERIFIED) === PRESENT_AND_VERIFIED &&
    (flags & REFUSED_FLAGS) === 0 &&
    ((flags & BACKED_UP) === 0 || (flags & BACKUP_ELIGIBLE) !== 0)
  );
}

function isSignature(spki: string, signed: Uint8Array, signature: Uint8Array): boolean {
  const key = openPasskey(spki);
  return (
    key !== undefined && verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature)
  );
}

/** A key of P-256 as DER, up to its coordinates. */
const P256_HEAD = fromHex('0x3059301306072a8648ce3d020106082a8648ce3d03010703420004');
const RSA_BITS = { min: 2_048, max: 4_096 };
const RSA_EXPONENT = 65_537n;

/** Whether the text is a passkey's public key as hex of its DER, in the one form that it has. */
export const isPasskeyKey = (spki: string): boolean => openPasskey(spki) !== undefined;

/** ES256 (P-256), EdDSA (Ed25519), or RS256 of 2,048 to 4,096 bits. */
function openPasskey(spki: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(fromHex(spki)), format: 'der', type: 'spki' });
    const same = toHex(key.export({ format: 'der', type: 'spki' })) === spki;
    return same && isKnownKind(key, spki) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isKnownKind({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject, spki: string) {
  if (type === 'ec') return spki.startsWith(toHex(P256_HEAD));
  if (type === 'ed25519') return isSoundKey(toHex(fromHex(spki).subarray(SPKI_HEAD.length)));
  const { modulusLength: bits = 0, publicExponent } = details ?? {};
  return type === 'rsa' && bits >= RSA_BITS.min && bits <= RSA_BITS.max && publicExponent === RSA_EXPONENT;
}

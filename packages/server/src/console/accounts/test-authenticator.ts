import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
const PRESENT_AND_VERIFIED = 0x05;
const WITH_CREDENTIAL = 0x40;

const header = (major: number, length: number): Buffer => {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  return length < 256
    ? Buffer.from([(major << 5) | 24, length])
    : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
};
const text = (value: string) => Buffer.concat([header(3, value.length), Buffer.from(value)]);
const bytes = (value: Uint8Array) => Buffer.concat([header(2, value.length), value]);
const number = (value: number) => (value < 0 ? header(1, -1 - value) : header(0, value));
const map = (...pairs: [Buffer, Buffer][]) => Buffer.concat([header(5, pairs.length), ...pairs.flat()]);

interface Said {
  challenge: string;
  origin: string;
  rpId?: string;
  counter?: number;
  flags?: number;
}

/** An authenticator of P-256 that says what a test wants. */
export function makeAuthenticator(
  { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
) {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  const coseKey = map(
    [number(1), number(2)],
    [number(3), number(-7)],
    [number(-1), number(1)],
    [number(-2), bytes(Buffer.from(x, 'base64url'))],
    [number(-3), bytes(Buffer.from(y, 'base64url'))],
  );
  const clientData = (type: string, { challenge, origin }: Said) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authData = ({ rpId = 'localhost', counter = 0, flags = PRESENT_AND_VERIFIED }: Said) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return { head: Buffer.concat([sha256(rpId)]), flags, count };
  };
  return {
    /** As it is kept. */
    kept: { credential_id: id, public_key: coseKey },
    create: (said: Said, attestation: Buffer = map()) => {
      const { head, flags, count } = authData(said);
      const length = Buffer.from([0, id.length]);
      const data = Buffer.concat([
        head,
        Buffer.from([flags | WITH_CREDENTIAL]),
        count,
        Buffer.alloc(16),
        length,
        id,
        coseKey,
      ]);
      const attestationObject = map(
        [text('fmt'), text(attestation.length > 1 ? 'packed' : 'none')],
        [text('attStmt'), attestation],
        [text('authData'), bytes(data)],
      );
      const response = {
        clientDataJSON: base64(clientData('webauthn.create', said)),
        attestationObject: base64(attestationObject),
      };
      return { id: base64(id), rawId: base64(id), response };
    },
    get: (said: Said, userHandle?: string) => {
      const { head, flags, count } = authData(said);
      const data = Buffer.concat([head, Buffer.from([flags]), count]);
      const client = clientData('webauthn.get', said);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      const response = {
        clientDataJSON: base64(client),
        authenticatorData: base64(data),
        signature: base64(signature),
        userHandle,
      };
      return { id: base64(id), rawId: base64(id), response };
    },
    /** A statement of an attestation whose certificate names an address. */
    foreignStatement: map(
      [text('alg'), number(-7)],
      [text('sig'), bytes(randomBytes(70))],
      [text('x5c'), Buffer.concat([header(4, 1), bytes(randomBytes(64))])],
    ),
  };
}

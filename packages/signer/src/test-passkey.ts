import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { PasskeyKey } from './approver-key.ts';
import { toHex } from './bytes.ts';
import { approvalChallenge } from './passkey.ts';
import type { SignedApproval } from './protocol.ts';
import { type Statement, type Subject, statementOf } from './statement.ts';

/** For tests: a passkey that says what a test wants. */
export interface TestPasskey {
  privateKey: KeyObject;
  key: PasskeyKey;
}

export const PAGE = { rpId: 'console.example.com', origin: 'https://console.example.com' };

export function makePasskey(
  { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  page = PAGE,
): TestPasskey {
  const key = toHex(publicKey.export({ format: 'der', type: 'spki' }));
  return { privateKey, key: { kind: 'passkey', key, ...page } };
}

/** As a policy names it. */
export const policyPasskey = ({ key: { key, rpId, origin } }: TestPasskey) => ({ key, rp_id: rpId, origin });

interface Said {
  rpId?: string;
  flags?: number;
  counter?: number;
  extensions?: Uint8Array;
  client?: Record<string, unknown>;
}

/** Verified, present, and not to be copied. */
export const VERIFIED = 0x05;

/** The passkey's answer to a statement, and what else a test lets it say. */
export function answerOf(passkey: TestPasskey, statement: Statement, said: Said = {}) {
  const { rpId = passkey.key.rpId, flags = VERIFIED, counter = 0, extensions = new Uint8Array() } = said;
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const hashed = createHash('sha256').update(rpId).digest();
  const data = Buffer.concat([hashed, Uint8Array.of(flags), count, extensions]);
  const challenge = Buffer.from(approvalChallenge(statement)).toString('base64url');
  const { origin } = passkey.key;
  const wanted = { type: 'webauthn.get', challenge, origin, crossOrigin: false, ...said.client };
  const client = Buffer.from(JSON.stringify(wanted));
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
  const { privateKey } = passkey;
  const signature = sign(privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, privateKey);
  return {
    signature: toHex(signature),
    passkey: { authenticatorData: toHex(data), clientDataJSON: toHex(client) },
  };
}

/** An approver's whole answer to what they approve. */
export const approvedBy = (
  approver: string,
  passkey: TestPasskey,
  subject: Subject,
  validUntil: number,
): SignedApproval => ({ approver, validUntil, ...answerOf(passkey, statementOf(subject, validUntil)) });

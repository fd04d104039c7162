import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { addressOfKey } from './address.ts';
import { concat, fromHex, type Hex, toHex } from './bytes.ts';
import { readPrivateFile } from './files.ts';
import { writeNew } from './key-file.ts';
import { SignerMistake } from './mistake.ts';
import type { Approver } from './policy.ts';
import type { SignedApproval } from './protocol.ts';
import { approvalDigest, type Statement, type Subject, statementOf, statementText } from './statement.ts';

const ED25519_BYTES = 64;
const ETHEREUM_BYTES = 65;
/** An Ed25519 public key as DER, up to its 32 bytes. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * The approvers whose signature holds for this subject now, each once. A signature of another subject, of a time that has
 * passed, or of somebody whom the policy does not name counts nothing.
 *
 * @param now Unix seconds
 */
export function approversOf(
  subject: Subject,
  approvals: readonly SignedApproval[],
  { approvers, now }: { approvers: readonly Approver[]; now: number },
): ReadonlySet<string> {
  const byName = new Map(approvers.map((approver) => [approver.name, approver]));
  const valid = approvals.filter(({ approver: name, validUntil, signature }) => {
    const approver = byName.get(name);
    return (
      approver !== undefined &&
      validUntil >= now &&
      holds(approver, statementOf(subject, validUntil), signature)
    );
  });
  return new Set(valid.map(({ approver }) => approver));
}

function holds(approver: Approver, statement: Statement, signature: string): boolean {
  const bytes = fromHex(signature);
  return approver.kind === 'ed25519'
    ? bytes.length === ED25519_BYTES && verify(null, textBytes(statement), publicKeyOf(approver.key), bytes)
    : signerOf(statement, bytes) === approver.key;
}

const textBytes = (statement: Statement) => Buffer.from(statementText(statement));

function publicKeyOf(key: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, fromHex(key)]), format: 'der', type: 'spki' });
}

/** The address that made an EIP-712 signature of 65 bytes; undefined where it is none. */
function signerOf(statement: Statement, bytes: Uint8Array): string | undefined {
  if (bytes.length !== ETHEREUM_BYTES) return undefined;
  const v = bytes[ETHEREUM_BYTES - 1] ?? 0;
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return undefined;
  try {
    const recovered = concat(Uint8Array.of(parity), bytes.subarray(0, ETHEREUM_BYTES - 1));
    return addressOfKey(secp256k1.recoverPublicKey(recovered, approvalDigest(statement), { prehash: false }));
  } catch {
    return undefined;
  }
}

/** Makes an Ed25519 key in a new file with mode 0600. @returns the public key for the policy */
export function writeApproverKey(file: string, passphrase?: string): Hex {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const sealed = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  writeNew(file, privateKey.export({ format: 'pem', type: 'pkcs8', ...sealed }).toString());
  return publicBytes(publicKey);
}

/** @throws SignerMistake */
export function openApproverKey(file: string, passphrase?: string): KeyObject {
  const key = readPrivateFile(file, 'the approver key');
  let opened: KeyObject;
  try {
    opened = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    const secret = passphrase === undefined ? 'its passphrase is missing' : 'the passphrase is wrong';
    throw new SignerMistake(
      'approver_key',
      `the approver key ${file} does not open: ${secret}, or it is no key file.`,
    );
  }
  if (opened.asymmetricKeyType !== 'ed25519')
    throw new SignerMistake('approver_key', `the approver key ${file} is not of Ed25519.`);
  return opened;
}

const publicBytes = (key: KeyObject): Hex =>
  toHex(key.export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length));

/** The public key, as the policy names it. */
export const approverPublicKey = (key: KeyObject): Hex => publicBytes(createPublicKey(key));

/** @returns `SignedApproval.signature` */
export function signStatement(statement: Statement, key: KeyObject): Hex {
  return toHex(sign(null, textBytes(statement), key));
}

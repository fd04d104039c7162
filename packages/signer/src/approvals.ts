import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { addressOfKey } from './address.ts';
import { type Approver, type ApproverKey, readApproverKey, SPKI_HEAD } from './approver-key.ts';
import { concat, fromHex } from './bytes.ts';
import { isAnsweredBy, isOfPage } from './passkey.ts';
import type { SignedApproval } from './protocol.ts';
import { approvalDigest, type Statement, type Subject, statementOf, statementText } from './statement.ts';

const ED25519_BYTES = 64;
const ETHEREUM_BYTES = 65;

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
  const keysOf = Map.groupBy(approvers, ({ name }) => name);
  const valid = approvals.filter((approval) => {
    const { approver: name, validUntil } = approval;
    const keys = keysOf.get(name);
    if (keys === undefined || validUntil < now) return false;
    const statement = statementOf(subject, validUntil);
    return keys.some((key) => isSignedBy(key, statement, approval));
  });
  return new Set(valid.map(({ approver }) => approver));
}

/** An approval, and the key by which the server checked it when it came: hex, or the address. */
export type CheckedApproval = SignedApproval & { key: string };

/**
 * Whether a policy names that key under that name, and a passkey for the page on which it answered. Whether the signature is
 * good is not asked here, so that a forged one still reaches the signer, which counts it as an attack.
 */
export function isByNamedKey(
  approvers: readonly Approver[],
  { approver: name, key, passkey }: CheckedApproval,
): boolean {
  if (passkey === undefined) {
    const own = readApproverKey(key);
    return approvers.some(
      (one) => one.name === name && own !== undefined && one.kind === own.kind && one.key === own.key,
    );
  }
  return approvers.some(
    (one) => one.name === name && one.kind === 'passkey' && one.key === key && isOfPage(one, passkey),
  );
}

/** Whether the signature is that key's over the statement. */
export function isSignedBy(
  approver: ApproverKey,
  statement: Statement,
  { signature, passkey }: Pick<SignedApproval, 'signature' | 'passkey'>,
): boolean {
  const bytes = fromHex(signature);
  if (approver.kind === 'passkey')
    return passkey !== undefined && isAnsweredBy(approver, statement, { ...passkey, signature: bytes });
  if (passkey !== undefined) return false;
  return approver.kind === 'ed25519'
    ? bytes.length === ED25519_BYTES &&
        verify(null, Buffer.from(statementText(statement)), publicKeyOf(approver.key), bytes)
    : signerOf(statement, bytes) === approver.key;
}

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

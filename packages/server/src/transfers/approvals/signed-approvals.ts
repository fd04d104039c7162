import { createHash } from 'node:crypto';
import { isSignedBy } from '@florin/signer/approvals';
import { readApproverKey } from '@florin/signer/approver-key';
import { type Subject, statementOf, statementText } from '@florin/signer/statement';
import type { ChainOwner } from '../../chains/index.ts';
import type { Authority, SignedApproval } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail, invalidParam } from '../../platform/fail.ts';
import { approverKeys } from '../../stores/approvers/index.ts';
import { listKept, storeApproval } from './authority.ts';
import { type AskedPolicy, countsFor } from './counting.ts';
import type { PolicyApprover } from './required-approvals.ts';

/** An approver's signature over the statement of a payout batch or refund, and whose it is said to be. */
export interface GivenSignature {
  /** Unix seconds. */
  validUntil: number;
  /** Hex. */
  signature: string;
}
export interface SignedBy extends GivenSignature {
  name: string;
  /** The key that the approver has registered. */
  publicKey: string | null;
  /** Where it is the answer of a passkey: which one of theirs, and what it has signed. */
  passkey?: OwnPasskey & NonNullable<SignedApproval['passkey']>;
}

/** A passkey of the person who approves, on the pages of the console. */
export interface OwnPasskey {
  credentialId: Buffer;
  /** SubjectPublicKeyInfo as DER, hex. */
  key: string;
  rpId: string;
  origin: string;
}

/**
 * Who has signed, and with what: the signature identifies the approver.
 *
 * @throws Fail `invalid_request` with param `approver`
 */
export async function findSigner(
  db: Db,
  merchantId: string,
  { approver, ...given }: GivenSignature & { approver: string },
): Promise<{ approverId: string; signed: SignedBy }> {
  const { approverId, ...who } = await approverKeys.findSigningApprover(db, merchantId, approver);
  return { approverId, signed: { ...who, ...given } };
}

/** A longer one could be used by whoever finds it, and a shorter one may end before it is used. */
const VALID_SECONDS = { min: 3_600, max: 30 * 86_400 };

/** What approvers sign, as the signer computes it. */
export function subjectOf({ kind, merchantId, id, network, asset, items }: Authority) {
  const named = items.map((item) => ({ ...item, amount: String(item.amount) }));
  return { kind, merchant: merchantId, id, network, asset, items: named } satisfies Subject;
}

/**
 * Compares what is paid with what somebody has read who decides by their session alone.
 *
 * @param digest of the items, as `statementFor` has it
 * @throws Fail `conflict`
 */
export function checkContent(authority: Authority, digest: string): void {
  if (statementOf(subjectOf(authority), 0).items !== digest)
    throw new Fail('conflict', 'What is paid has changed since the page showed it: read it again.');
}

/**
 * Finds the approver in the signer's policy, by key. Where no signer asks, a passkey is its own word.
 *
 * @throws Fail `invalid_request` with param `approver`; `service_unavailable` where the signer does not answer
 */
export function findPolicyApprover(
  policy: AskedPolicy,
  { mode }: Pick<ChainOwner, 'mode'>,
  { name, publicKey, passkey }: Pick<SignedBy, 'name' | 'publicKey' | 'passkey'>,
): PolicyApprover {
  if (passkey !== undefined) return findPolicyPasskey(policy, name, passkey);
  if (mode === 'sandbox')
    throw invalidParam(
      'signature',
      'The sandbox has no signer, so it takes no signatures: approve with a token.',
    );
  const own = publicKey === null ? undefined : readApproverKey(publicKey);
  if (own === undefined)
    throw invalidParam(
      'approver',
      `${name} has no key here: florin approvers add "${name}" --key KEY registers it.`,
    );
  if (policy instanceof Fail) throw policy;
  const known = policy?.approvers.find(({ kind, key }) => kind === own.kind && key === own.key);
  if (known !== undefined) return known;
  throw invalidParam(
    'approver',
    `The signer's policy does not name the key of ${name}: add it under approvers there.`,
  );
}

function findPolicyPasskey(policy: AskedPolicy, name: string, own: OwnPasskey): PolicyApprover {
  const { key, rpId, origin } = own;
  if (policy instanceof Fail) throw policy;
  const known =
    policy === undefined
      ? { name, kind: 'passkey' as const, key, rpId, origin }
      : policy.approvers.find((one) => isSamePasskey(one, own));
  if (known !== undefined) return known;
  throw invalidParam(
    'approver',
    `The signer's policy does not name this passkey of ${name}: florin approvers passkey ${name} shows what to add there.`,
  );
}

/** Whether an approver of a policy is this passkey on these pages. */
const isSamePasskey = (known: PolicyApprover, { key, rpId, origin }: OwnPasskey): boolean =>
  known.kind === 'passkey' && known.key === key && known.rpId === rpId && known.origin === origin;

/** Which of a person's passkeys count, as far as a signer asks; a Fail while it does not answer. */
export function findCountingPasskeys<T extends OwnPasskey>(
  policy: AskedPolicy,
  own: readonly T[],
): T[] | Fail {
  if (policy instanceof Fail) return policy;
  return own.filter(
    (passkey) => policy === undefined || policy.approvers.some((known) => isSamePasskey(known, passkey)),
  );
}

export type Decision = 'approved' | 'rejected';

/** What approvers sign of it, with the merchant's mode. */
export const statementFor = (
  subject: Subject,
  { mode, decision, validUntil }: { mode: ChainOwner['mode']; decision: Decision; validUntil: number },
) => statementOf(subject, validUntil, { mode, decision: decision === 'approved' ? 'approve' : 'reject' });

/**
 * Checks a signature and keeps it for the signer, under the name that its policy has.
 *
 * @throws Fail `invalid_request` with param `valid_until` or `signature`
 */
export async function keepSignature(
  tx: Tx,
  authority: Authority,
  given: SignedBy & {
    by: PolicyApprover;
    approverId: string;
    mode: ChainOwner['mode'];
    decision: Decision;
    policy: AskedPolicy;
  },
  now: { seconds: number; realMs: number },
): Promise<void> {
  const { by, name, validUntil, signature, passkey, approverId } = given;
  const validFor = validUntil - now.seconds;
  if (validFor < VALID_SECONDS.min || validFor > VALID_SECONDS.max)
    throw invalidParam(
      'valid_until',
      'A signature is good for an hour at least and 30 days at most: sign again.',
    );
  const statement = statementFor(subjectOf(authority), given);
  const parts = passkey && {
    authenticatorData: passkey.authenticatorData,
    clientDataJSON: passkey.clientDataJSON,
  };
  if (!isSignedBy(by, statement, { signature, ...(parts !== undefined && { passkey: parts }) }))
    throw invalidParam(
      'signature',
      `This is not the signature of ${name} over this ${authority.kind} with this valid_until: the statement that was ` +
        'signed, the key or the time differ.',
    );
  const { kind, id, merchantId } = authority;
  const approval = {
    kind,
    id,
    approver: by.name,
    validUntil,
    signature,
    ...(parts !== undefined && { passkey: parts }),
    approverId,
    decision: statement.decision,
    // As it is registered: it counts while it is.
    publicKey: given.publicKey ?? by.key,
    credentialId: passkey?.credentialId ?? null,
    statementDigest: createHash('sha256').update(statementText(statement)).digest(),
  };
  const rules = given.policy instanceof Fail ? undefined : given.policy;
  const kept = await listKept(tx, merchantId, { kind, id });
  const before = kept.find(({ approver }) => approver === by.name);
  if (before !== undefined && before.approverId !== approverId && countsFor(before, rules, now.seconds))
    throw new Fail(
      'conflict',
      `Another approver has signed as ${by.name}, as the signer's policy calls you.`,
    );
  // The signer takes each name of its policy for somebody else.
  const isOther = (one: (typeof kept)[number]) => one.approverId === approverId && one.approver !== by.name;
  const twice = kept.find((one) => isOther(one) && countsFor(one, rules, now.seconds));
  if (twice !== undefined)
    throw new Fail(
      'conflict',
      `You have signed as ${twice.approver}: one person signs once, under one name of the signer's policy.`,
    );
  const isRenewed = before !== undefined && countsFor(before, rules, now.seconds);
  await storeApproval(tx, merchantId, approval, { ...now, isRenewed });
}

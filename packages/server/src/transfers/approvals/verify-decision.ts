import { isSignedBy } from '@florin/signer/approvals';
import { readApproverKey } from '@florin/signer/approver-key';
import type { Subject } from '@florin/signer/statement';
import type { ChainOwner } from '../../chains/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import type { Decided } from './list-decisions.ts';
import type { PolicyApprover } from './required-approvals.ts';
import { statementFor } from './signed-approvals.ts';

/** What a decision is worth to whoever does not believe the database. */
export interface VerifiedDecision {
  /** The approver as registered: whose vote it is, by the word of the database. */
  name: string;
  /** The name under which the signer's policy has the key that signed; null where nobody signed. */
  signer: string | null;
  decision: Decided['decision'];
  by: 'ed25519' | 'eip712' | 'passkey' | Decided['weakly'];
  /**
   * A session or a token leaves a row that whoever writes the database can make, and without a policy they can make the key
   * and its signature as well.
   */
  strength: 'signed' | 'weaker' | 'wrong';
  /** Whether the server would count it now. A payout that was signed in time stays signed when its approver leaves. */
  counts_today: boolean;
  /** Why it is wrong or weaker than a signature, or does not count today. */
  why: string | null;
}

interface Known {
  subject: Subject;
  mode: ChainOwner['mode'];
  /** Of a signer's policy; undefined: the keys that were kept with the signatures. */
  approvers: readonly PolicyApprover[] | undefined;
  /** Where passkeys belong, for those that were kept. */
  page: { rpId: string; origin: string } | undefined;
  nowSeconds: number;
}

/** Verifies a decision without signer and network. */
export function verifyDecision(
  { name, decision, weakly, isPresent, signed }: Decided,
  known: Known,
): VerifiedDecision {
  if (signed === null) {
    const why = isPresent ? null : 'its approver was removed';
    return { name, signer: null, decision, by: weakly, strength: 'weaker', counts_today: isPresent, why };
  }
  const said = { name, signer: signed.approver, decision, by: kindOf(signed) };
  const fault = findFault(signed, decision, known);
  if (fault !== undefined) return { ...said, strength: 'wrong', counts_today: false, why: fault };
  const today = isPresent ? whyNotToday(signed, known.nowSeconds) : 'its approver was removed';
  const isOfPolicy = known.approvers !== undefined;
  const notes = [
    ...(isOfPolicy ? [] : [BY_DATABASE]),
    ...(today === undefined ? [] : [`today it does not count: ${today}`]),
  ];
  return {
    ...said,
    strength: isOfPolicy ? 'signed' : 'weaker',
    counts_today: today === undefined,
    why: notes.length === 0 ? null : notes.join('; '),
  };
}

const BY_DATABASE = 'its key is that of the database: give --policy';

function findFault(signed: Signed, decision: Decided['decision'], known: Known): string | undefined {
  const keys = keysOf(signed, known);
  if (keys.length === 0)
    return known.approvers === undefined
      ? 'its key was not kept: give --policy'
      : `the policy names no ${signed.approver}; the one of then may have`;
  const { validUntil, createdAt } = signed;
  const statement = statementFor(known.subject, { mode: known.mode, decision, validUntil });
  if (!keys.some((key) => isSignedBy(key, statement, signed)))
    return 'it is not a signature of that key over this statement';
  return validUntil < createdAt ? 'its time was over when it came' : undefined;
}

function whyNotToday({ counts, validUntil }: Signed, nowSeconds: number): string | undefined {
  if (!counts) return 'its approver was removed, or has another key now';
  return validUntil < nowSeconds ? `it was good until ${isoOf(validUntil * 1_000)}` : undefined;
}

type Signed = NonNullable<Decided['signed']>;

function kindOf({ passkey, publicKey, signature }: Signed): 'passkey' | 'ed25519' | 'eip712' {
  if (passkey !== undefined) return 'passkey';
  const isEthereum =
    publicKey === null ? signature.length > 130 : readApproverKey(publicKey)?.kind === 'ethereum';
  return isEthereum ? 'eip712' : 'ed25519';
}

function keysOf(
  { approver: name, publicKey, passkey }: Signed,
  { approvers, page }: Known,
): PolicyApprover[] {
  if (approvers !== undefined) return approvers.filter((one) => one.name === name);
  if (publicKey === null) return [];
  if (passkey !== undefined)
    return page === undefined ? [] : [{ name, kind: 'passkey', key: publicKey, ...page }];
  const key = readApproverKey(publicKey);
  return key === undefined ? [] : [{ name, ...key }];
}

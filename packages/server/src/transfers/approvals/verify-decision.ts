import { isSignedBy } from '@florin/signer/approvals';
import { readApproverKey } from '@florin/signer/approver-key';
import type { Subject } from '@florin/signer/statement';
import type { ChainOwner } from '../../chains/index.ts';
import type { Decided } from './list-decisions.ts';
import type { PolicyApprover } from './required-approvals.ts';
import { statementFor } from './signed-approvals.ts';

/** What a decision is worth to whoever does not believe the database. */
export interface VerifiedDecision {
  name: string;
  decision: Decided['decision'];
  by: 'ed25519' | 'eip712' | 'passkey' | Decided['weakly'];
  /** A session or a token leaves a row that whoever writes the database can make. */
  strength: 'signed' | 'weaker' | 'wrong';
  /** Why a signature does not count. */
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
  const said = { name, decision };
  if (signed === null) return { ...said, by: weakly, strength: 'weaker', why: null };
  const by = kindOf(signed);
  const wrong = (why: string): VerifiedDecision => ({ ...said, by, strength: 'wrong', why });
  const keys = keysOf(signed, known);
  if (keys.length === 0)
    return wrong(
      known.approvers === undefined
        ? 'its key was not kept: give the policy of the signer'
        : `the policy names no ${signed.approver}`,
    );
  const { validUntil } = signed;
  const statement = statementFor(known.subject, { mode: known.mode, decision, validUntil });
  if (!keys.some((key) => isSignedBy(key, statement, signed)))
    return wrong('it is not a signature of that key over this statement');
  if (!isPresent || !signed.counts) return wrong('its approver was removed, or has another key now');
  if (validUntil < known.nowSeconds) return wrong('its time is over');
  return { ...said, by, strength: 'signed', why: null };
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

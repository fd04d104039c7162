import { createHash } from 'node:crypto';
import { isSignedBy } from '@florin/signer/approvals';
import { readApproverKey } from '@florin/signer/approver-key';
import { type Subject, statementOf, statementText } from '@florin/signer/statement';
import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import type { Authority } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail, invalidParam } from '../../platform/fail.ts';
import { approverKeys } from '../../stores/approvers/index.ts';
import { storeApproval } from './authority.ts';
import { type PolicyApprover, readApprovalRules } from './required-approvals.ts';

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

/** A longer one could be used by whoever finds it. */
const VALID_SECONDS_MAX = 30 * 86_400;

/** What approvers sign, as the signer computes it. */
export function subjectOf({ kind, merchantId, id, network, asset, items }: Authority) {
  const named = items.map((item) => ({ ...item, amount: String(item.amount) }));
  return { kind, merchant: merchantId, id, network, asset, items: named } satisfies Subject;
}

/**
 * Finds the approver in the signer's policy, by key. Called outside of a transaction.
 *
 * @throws Fail `invalid_request` with param `approver`; `service_unavailable` where the signer does not answer
 */
export async function findPolicyApprover(
  chains: ChainRegistry,
  merchant: ChainOwner,
  { name, publicKey }: Pick<SignedBy, 'name' | 'publicKey'>,
): Promise<PolicyApprover> {
  if (merchant.mode === 'sandbox')
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
  const rules = await readApprovalRules(chains, merchant);
  if (rules instanceof Fail) throw rules;
  const known = rules?.approvers.find(({ kind, key }) => kind === own.kind && key === own.key);
  if (known !== undefined) return known;
  throw invalidParam(
    'approver',
    `The signer's policy does not name the key of ${name}: add it under approvers there.`,
  );
}

/**
 * Checks a signature and keeps it for the signer, under the name that its policy has.
 *
 * @throws Fail `invalid_request` with param `valid_until` or `signature`
 */
export async function keepSignature(
  tx: Tx,
  authority: Authority,
  { by, name, validUntil, signature }: GivenSignature & { by: PolicyApprover; name: string },
  now: { seconds: number; realMs: number },
): Promise<void> {
  if (validUntil <= now.seconds || validUntil > now.seconds + VALID_SECONDS_MAX)
    throw invalidParam('valid_until', 'A signature ends in the future, and within 30 days: sign again.');
  const statement = statementOf(subjectOf(authority), validUntil);
  if (!isSignedBy(by, statement, { signature }))
    throw invalidParam(
      'signature',
      `This is not the signature of ${name} over this ${authority.kind} with this valid_until: the statement that was ` +
        'signed, the key or the time differ.',
    );
  const statementDigest = createHash('sha256').update(statementText(statement)).digest();
  const { kind, id, merchantId } = authority;
  const approval = { kind, id, approver: by.name, validUntil, signature, statementDigest };
  await storeApproval(tx, merchantId, approval, now);
}

/**
 * Checks that the people who are still to come can sign as often as the signer wants: approvals with a token alone must not
 * use them up.
 *
 * @param counts `wanted` signatures, and `left` approvals after this one
 * @throws Fail `invalid_request` with param `signature`
 */
export async function checkSignaturesLeft(
  tx: Tx,
  { merchantId, kind, id }: Pick<Authority, 'merchantId' | 'kind' | 'id'>,
  { wanted, left }: { wanted: number; left: number },
  nowSeconds: number,
): Promise<void> {
  if (wanted === 0) return;
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from signed_approval
    where merchant_id = ${merchantId} and kind = ${kind} and owner_id = ${id} and valid_until > ${nowSeconds}`.execute(
    tx,
  );
  const missing = wanted - Number(rows[0]?.count ?? 0);
  if (missing <= left) return;
  throw invalidParam(
    'signature',
    `The signer wants ${wanted} signed ${wanted === 1 ? 'approval' : 'approvals'} of this ${kind}: approve with --key-file, ` +
      'or give a signature.',
  );
}

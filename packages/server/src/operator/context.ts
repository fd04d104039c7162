import type { App } from '../app.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { type Tx, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { identifyApprover, type VoteCount, votes } from '../stores/approvers/index.ts';
import { getMerchant, listMerchants, type Merchant } from '../stores/index.ts';
import { decodeId, type IdKind } from '../tenancy/index.ts';
import { signedApprovals } from '../transfers/approvals/index.ts';

/** Decodes an id that an operator typed. @throws Fail `resource_not_found` */
export function idOf(kind: IdKind, text: string): string {
  const id = decodeId(kind, text);
  if (id === undefined) throw new Fail('resource_not_found', `There is no ${text}.`);
  return id;
}

/** The named merchant, or the only one. @throws Fail if several exist and none is named */
export async function merchantBy(app: App, text: string | undefined): Promise<Merchant> {
  if (text !== undefined) return await getMerchant(app.db, idOf('merchant', text));
  const [only, ...others] = await listMerchants(app.db);
  if (only !== undefined && others.length === 0) return only;
  throw new Fail('invalid_request', {
    message:
      only === undefined ? 'There is no merchant yet.' : 'Several merchants exist: name one with --merchant.',
    param: 'merchant',
  });
}

/** A registered approver by name, and what shows that it is them. */
export type ApproverProof = { as: string } & (
  | { token: string; signed?: undefined }
  /** By the key that they have registered. */
  | { signed: signedApprovals.GivenSignature; token?: undefined }
);

/** @throws Fail `forbidden` for a wrong name or token; `invalid_request` with param `approver` */
export async function identifyBy(app: App, merchantId: string, { as: name, token, signed }: ApproverProof) {
  if (signed === undefined) {
    const { approverId } = await identifyApprover(app, merchantId, { name, token });
    return { approverId };
  }
  return await signedApprovals.findSigner(app.db, merchantId, { approver: name, ...signed });
}

/** An approver of the installation by name and token. */
export interface InstallationApprover {
  as: string;
  token: string;
}

/**
 * Votes on what concerns every merchant; with the last of the votes that it takes, `carryOut` runs in its transaction.
 *
 * @throws Fail `forbidden` for anybody but an approver of the installation; `invalid_request` for a second vote
 */
export async function voteForInstallation(
  app: App,
  { as: name, token }: InstallationApprover,
  {
    carryOut,
    ...vote
  }: { action: string; subject: string; decision: string; carryOut: (tx: Tx) => Promise<void> },
): Promise<VoteCount> {
  const { approverId } = await identifyApprover(app, NIL_ID, { name, token });
  return await transact(app.db, async (tx) => {
    const count = await votes.castVote(tx, NIL_ID, { ...vote, approverId }, app.clock.nowSeconds());
    if (count.isDone) await carryOut(tx);
    return count;
  });
}

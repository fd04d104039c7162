import {
  type AddressFault,
  type ClaimCheckView,
  type ClaimFormView,
  type ClaimOutcome,
  type ClaimOutcomeView,
  type PageLanguage,
  type StoreBrand,
  tokensText,
} from '@florin/pages';
import { awaitsClaim } from '../present.ts';
import type { RefundRow } from '../queries.ts';
import { awaitsApproval } from '../states.ts';

/** A refund behind its link, and who reads its page. */
export interface OpenedClaim {
  language: PageLanguage;
  storeName: string;
  brand: StoreBrand;
  isTest: boolean;
  refund: RefundRow;
}

function pageOf({ language, storeName, brand, isTest, refund }: OpenedClaim) {
  const { amount, currency, network } = refund;
  return { language, storeName, brand, isTest, amount: tokensText(amount, currency), network };
}

/** The form for the address; after a fault, with what was typed. */
export function claimForm(claim: OpenedClaim, typed = '', fault: AddressFault | null = null): ClaimFormView {
  return { page: 'claim', ...pageOf(claim), typed, fault };
}

export function claimCheck(claim: OpenedClaim, address: string): ClaimCheckView {
  return { page: 'claim_check', ...pageOf(claim), address };
}

function outcomeOf(refund: RefundRow): ClaimOutcome {
  if (awaitsApproval(refund)) return 'awaiting_approval';
  // A link that has ended waits for its refund to be canceled.
  if (awaitsClaim(refund)) return 'over';
  switch (refund.status) {
    case 'pending':
    case 'processing':
      return 'under_way';
    case 'succeeded':
      return 'paid';
    case 'failed':
      return 'failed';
    case 'canceled':
      return 'over';
  }
}

/** What became of a refund whose link was used, or is over. */
export function claimOutcome(claim: OpenedClaim): ClaimOutcomeView {
  const { address, tx_id: txId } = claim.refund;
  return { page: 'claim_outcome', ...pageOf(claim), outcome: outcomeOf(claim.refund), address, txId };
}

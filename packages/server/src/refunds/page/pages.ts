import type { AddressFault } from '@florin/pages';
import { languageOf, payerPages } from '../../checkout/page/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  seeOther,
} from '../../platform/http/pages/index.ts';
import { brandOf } from '../../stores/branding/index.ts';
import { getMerchant, getStore, type Merchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { checkRecipient } from '../../transfers/recipients/index.ts';
import { checkRefundAddress } from '../check-address.ts';
import { CLAIM_PATH, claimSecondsLeft, isClaimSecret, parseClaimToken } from '../claim-link.ts';
import { claimRefund } from '../claim-refund.ts';
import { type RefundDeps, refundSettings } from '../deps.ts';
import { findRefund } from '../queries.ts';
import { claimCheck, claimForm, claimOutcome, type OpenedClaim } from './view.ts';

const ADDRESS_LENGTH_MAX = 256;

interface Claim extends OpenedClaim {
  merchant: Merchant;
  /** The link is unused and has not expired. */
  isOpen: boolean;
}

/**
 * The pages of a refund's claim link, on which the payer names the address: a form without script, a confirmation of the
 * address, and the refund's status.
 */
export function claimPages(deps: RefundDeps): PublicPage[] {
  const path = `${CLAIM_PATH}/{token}`;
  const withClaim = async (request: PageRequest, show: (claim: Claim) => Promise<PageAnswer>) => {
    const claim = await findClaim(deps, request);
    // The same for a link that never was one and for one whose secret is wrong.
    if (claim === undefined) return await payerPages.noticeAnswer(request, 'claim_missing', { status: 404 });
    if (claim.isOpen && claim.merchant.status === 'suspended')
      return await payerPages.noticeAnswer(request, 'claim_suspended', { status: 403, store: claim });
    return await show(claim);
  };
  return [
    {
      path,
      handle: (request) =>
        withClaim(request, (claim) =>
          payerPages.payerAnswer(claim.isOpen ? claimForm(claim) : claimOutcome(claim)),
        ),
    },
    {
      method: 'POST',
      path,
      handle: (request) =>
        withClaim(request, async (claim) =>
          claim.isOpen ? await answer(deps, claim, request) : seeState(request, claim),
        ),
    },
  ];
}

async function findClaim(deps: RefundDeps, request: PageRequest): Promise<Claim | undefined> {
  const token = parseClaimToken(request.params.token ?? '');
  if (token === undefined) return undefined;
  const refund = await findRefund(deps.db, token.merchantId, token.refundId);
  if (refund === undefined || !isClaimSecret(deps.vault, refund, token)) return undefined;
  const merchant = await getMerchant(deps.db, refund.merchant_id);
  const store = await getStore(deps.db, refund.merchant_id, refund.store_id);
  const { seconds } = merchantTime(deps, merchant);
  return {
    merchant,
    language: languageOf(request),
    storeName: store.name,
    brand: brandOf(store),
    isTest: deps.chains.isTest(merchant),
    refund,
    isOpen: claimSecondsLeft(refund, merchant, seconds) > 0,
  };
}

/** Handles the form: first asks to confirm the address, then claims the refund. */
async function answer(deps: RefundDeps, claim: Claim, request: PageRequest): Promise<PageAnswer> {
  const { merchant, refund } = claim;
  const form = formOf(request);
  const address = (form.get('address') ?? '').trim();
  const fault = await faultOf(deps, claim, address);
  if (fault !== undefined) {
    const view = claimForm(claim, address.slice(0, ADDRESS_LENGTH_MAX), fault);
    return await payerPages.payerAnswer(view, { status: 400 });
  }
  if (form.get('sure') !== 'yes') return await payerPages.payerAnswer(claimCheck(claim, address));
  try {
    await claimRefund(deps, merchant, refund.refund_id, address);
  } catch (refused) {
    // Claimed by a concurrent request, canceled, or its merchant is suspended: the page shows the current state.
    const isAnswered = refused instanceof Fail && ['invalid_request', 'forbidden'].includes(refused.code);
    if (!isAnswered) throw refused;
  }
  return seeState(request, claim);
}

const FAULTS: Partial<Record<string, AddressFault>> = { format: 'format', checksum: 'checksum' };

async function faultOf(
  deps: RefundDeps,
  { refund, merchant }: Claim,
  address: string,
): Promise<AddressFault | undefined> {
  if (address === '') return 'empty';
  if (address.length > ADDRESS_LENGTH_MAX || address.includes('\0')) return 'format';
  const { network } = refund;
  const { allowProgramOwned } = await refundSettings(deps, merchant);
  const { code } = checkRecipient(network, address, { allowProgramOwned });
  if (code !== undefined) return FAULTS[code] ?? 'unusable';
  try {
    await checkRefundAddress(deps.db, deps, { merchant, network, address, allowProgramOwned });
    return undefined;
  } catch (refused) {
    if (refused instanceof Fail && refused.code === 'invalid_request') return 'unusable';
    throw refused;
  }
}

const seeState = ({ params }: PageRequest, { language }: Claim) =>
  seeOther(`${CLAIM_PATH}/${params.token ?? ''}?lang=${language}`);

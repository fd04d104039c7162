import type { ChainUnavailable } from '../chains/port/index.ts';
import { isLineDue } from '../platform/observability/index.ts';
import type { WaitReason } from './attempts/readiness.ts';
import type { SendContext } from './send-context.ts';

export function logUnavailable(
  { deps, chain: { network }, groupIds }: SendContext,
  err: ChainUnavailable,
): void {
  deps.log.warn({ network, group_ids: groupIds, err }, 'network unavailable, transfers wait');
}

/** All waiting groups have the same reason, so it is logged once a minute for each network. */
export function logOncePerMinute(
  { deps, chain: { network }, groupIds }: SendContext,
  message: string,
  fields: object = {},
): void {
  if (!isLineDue(deps.log, `${network} ${message}`)) return;
  deps.log.error({ network, group_ids: groupIds, ...fields }, message);
}

/** Movements of our own pass; the rest waits for a person, who reads what to do. */
export function logWaiting(context: SendContext, waitsFor: WaitReason): void {
  const what = WAITS[waitsFor];
  if (what === undefined) {
    const { deps, groupIds } = context;
    deps.log.info(
      { group_ids: groupIds, waiting: waitsFor },
      'something has to be in a block first, transfers wait',
    );
  } else logOncePerMinute(context, what, { waiting: waitsFor });
}

const WAITS: Partial<Record<WaitReason, string>> = {
  tank_low: 'the gas tank is low, transfers wait until it is filled (florin treasury status)',
  opening_ceiling:
    'new recipients need more than transfers.opening_ceiling lets a day of the merchant spend on their accounts, transfers wait',
  gas_ceiling:
    "a payment needs more of the network's coin than its ceiling lets its wallet have (transfers.gas_ceiling, transfers.trx_ceiling), or the signer, which limits each top-up, does not answer: transfers wait",
  gas_day:
    "a merchant's wallets have got transfers.trx_per_day of TRX within 24 hours, transfers wait: raise it, or look for what takes so much",
  top_ups_used:
    "gas_top_ups_per_day of the signer's policy is used up, or ordered: transfers that need more of the network's coin wait until the day's top-ups are less",
  top_up_refused:
    "the signer has refused what the gas tank was to send for a merchant (coins for a wallet's fees, its account, its contract): what needs that waits, and it is asked again within the hour",
  call_reverts: 'the token refuses payments now, for a reason that it does not tell: they wait',
  other_operator:
    "the merchant's account at the collector has another operator, charges wait (florin signer owner-call)",
  token_paused: 'the token is paused by its issuer, transfers wait',
  sender_blacklisted: "the token's issuer has blocked our hot wallet, transfers wait",
  contract_blacklisted:
    "the token's issuer has blocked our contract, transfers wait (set batch_payout to null: single transfers go on)",
};

import { ASSETS, feeOf, NETWORKS, type Network } from '@florin/contract/money';
import {
  flagSetting,
  integerSetting,
  listSetting,
  moneyOrWordSetting,
  moneySetting,
} from '../tenancy/settings/index.ts';

const TOKENS = ASSETS.flatMap((asset) => NETWORKS.map((network) => `${asset}:${network}`));
/** Circle ended USDC on Tron in 2025: the sandbox keeps it for tests. */
const LIVE_TOKENS = TOKENS.filter((token) => token !== 'USDC:trc20');

/** Real money starts with low limits, which the operator raises: docs/live.md names them. */
export const PAYOUT_SETTINGS = {
  approvalAbove: moneySetting({
    name: 'payouts.approval_above',
    description: 'A batch whose items add up to more than this waits for approval.',
    fallback: { sandbox: '10000.00', live: '1000.00' },
  }),
  unapprovedPerDay: moneyOrWordSetting({
    name: 'payouts.unapproved_per_day',
    description:
      'What may be submitted in 24 hours without approval, all batches together; threshold: as much as approval_above.',
    fallback: { sandbox: '100000.00', live: 'threshold' },
    words: ['threshold', 'off'],
  }),
  approvals: integerSetting({
    name: 'payouts.approvals',
    description: 'How many registered approvers must approve such a batch.',
    fallback: 1,
    min: 1,
    max: 10,
  }),
  min: moneySetting({
    name: 'payouts.batch_minimum',
    description: 'The least that the items of a batch may add up to.',
    fallback: '0.01',
  }),
  max: moneySetting({
    name: 'payouts.batch_maximum',
    description: 'The most that the items of a batch may add up to.',
    fallback: { sandbox: '1000000.00', live: '10000.00' },
  }),
  dailyQuota: moneySetting({
    name: 'payouts.daily_quota',
    description: 'The most that a merchant may submit per currency and UTC day.',
    fallback: { sandbox: '5000000.00', live: '10000.00' },
  }),
  feeBasisPoints: integerSetting({
    name: 'payouts.fee_basis_points',
    description: 'Service fee of an item in hundredths of a percent of its amount.',
    fallback: 10,
    min: 0,
    max: 10_000,
  }),
  feeErc20: moneySetting({
    name: 'payouts.fee_flat_erc20',
    description: 'Flat service fee of an item on Ethereum.',
    fallback: '1.00',
  }),
  feeTrc20: moneySetting({
    name: 'payouts.fee_flat_trc20',
    description: 'Flat service fee of an item on Tron.',
    fallback: '1.00',
  }),
  feeSpl: moneySetting({
    name: 'payouts.fee_flat_spl',
    description: 'Flat service fee of an item on Solana.',
    fallback: '0.10',
  }),
  tokens: listSetting({
    name: 'payouts.tokens',
    description: 'Tokens and networks that items may use.',
    fallback: { sandbox: TOKENS, live: LIVE_TOKENS },
    allowed: TOKENS,
  }),
  allowProgramOwned: flagSetting({
    name: 'payouts.allow_program_owned',
    description: 'Accept Solana addresses that a program owns, such as multisig vaults.',
    fallback: false,
  }),
};

export interface FeeRule {
  feeBasisPoints: number;
  feeErc20: bigint;
  feeTrc20: bigint;
  feeSpl: bigint;
}

/** Flat fee of the network plus basis points, rounded up to the cent. */
export function feeFor(rule: FeeRule, network: Network, amount: bigint): bigint {
  const flat = { erc20: rule.feeErc20, trc20: rule.feeTrc20, spl: rule.feeSpl }[network];
  return feeOf(amount, flat, rule.feeBasisPoints);
}

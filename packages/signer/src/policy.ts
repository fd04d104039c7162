import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { Approver } from './approver-key.ts';
import { ApproverText, approversOf } from './policy-approvers.ts';
import { NodeText, nodeOf, SolanaText, solanaRules, TronText, tronRules } from './policy-networks.ts';
import {
  AccountNames,
  Address,
  addressIn,
  checkOrder,
  closed,
  coins,
  Money,
  merchantsOf,
  mistake,
  unitsOf,
} from './policy-text.ts';
import { BEFORE_MAX, type SignerAsset } from './protocol.ts';
import { checkShape } from './shape.ts';
import type { SolanaRules } from './solana/purposes.ts';
import type { TronRules } from './tron/purposes.ts';

/** EIP-7825: no transaction may have more. */
const GAS_MAX = 16_777_216;
const FREEZE_AFTER = 5;
const LEARNED_PER_DAY = 50_000;

/** What a payout or refund may be without people, and with them. Amounts in units of a token, tokens added up. */
export interface PaymentRules {
  perTransfer: bigint;
  perHour: bigint;
  perDay: bigint;
  perMerchantDay: bigint;
  /** A batch or refund whose total is above it needs `approvals` people. */
  approveAbove: bigint;
  approvals: number;
  /** All that goes out without people in a day. */
  unapprovedPerDay: bigint;
  /** Single transfers that pay an item again whose earlier transaction may still be mined. */
  resendPerDay: bigint;
}

/** A network's rules; amounts of its own coin in wei. */
export interface NetworkRules {
  chainId: bigint;
  tokens: ReadonlyMap<SignerAsset, string>;
  /** Null: each item is a transfer of its own. */
  batchPayout: string | null;
  /** Null: no wallet is charged. */
  collector: string | null;
  /** By account: addresses outside of the signer that own accounts at the collector. Where it names none, a key of the signer does. */
  coldOwners: ReadonlyMap<number, string>;
  /** A node of the operator's own, which the signer alone asks; null: there is none. */
  node: string | null;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  gasPerTransaction: bigint;
  nativeFeePerDay: bigint;
  gasTopUp: bigint;
  gasTopUpsPerDay: bigint;
  /** The most that `BatchPayout` may pull from a hot wallet, in units. */
  approveCeiling: bigint;
}

export interface Policy {
  /** SHA-256 of the file, hex. */
  digest: string;
  erc20: NetworkRules;
  /** Null: nothing is signed there. */
  trc20: TronRules | null;
  spl: SolanaRules | null;
  payouts: PaymentRules;
  refunds: PaymentRules;
  /** Several of one name are one person. */
  approvers: readonly Approver[];
  /** Merchants by account on erc20: no other account pays. Null: the first payment of an account decides. */
  accounts: ReadonlyMap<number, string> | null;
  /** So many attempts that are refused within a minute stop all signing. */
  freezeAfter: number;
  /** Ids of earlier attempts that are taken over from requests in a day. */
  learnedPerDay: bigint;
}

const Payments = closed({
  per_transfer: Money,
  per_hour: Money,
  per_day: Money,
  per_merchant_day: Money,
  approve_above: Type.Optional(Money),
  approvals: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  unapproved_per_day: Type.Optional(Money),
  resend_per_day: Type.Optional(Money),
});

const PolicyFile = closed({
  florin_policy: Type.Literal(1),
  networks: closed({
    erc20: closed({
      chain_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      tokens: closed({ USDT: Type.Optional(Address), USDC: Type.Optional(Address) }),
      batch_payout: Type.Optional(Address),
      collector: Type.Optional(Address),
      cold_owners: Type.Optional(
        Type.Record(Type.String({ pattern: '^[1-9][0-9]{0,9}$' }), Address, { additionalProperties: false }),
      ),
      node: Type.Optional(NodeText),
      max_fee_per_gas: coins('wei'),
      max_priority_fee_per_gas: coins('wei'),
      gas_per_transaction: Type.Integer({ minimum: 21_000, maximum: GAS_MAX }),
      native_fee_per_day: coins('wei'),
      gas_top_up: coins('wei'),
      gas_top_ups_per_day: coins('wei'),
      approve_ceiling: Money,
    }),
    trc20: Type.Optional(TronText),
    spl: Type.Optional(SolanaText),
  }),
  payouts: Payments,
  refunds: Payments,
  approvers: Type.Array(ApproverText, { maxItems: 100 }),
  accounts: Type.Optional(AccountNames),
  freeze_after_refusals: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  learned_per_day: Type.Optional(Type.Integer({ minimum: BEFORE_MAX, maximum: 10_000_000 })),
});
type PolicyText = Static<typeof PolicyFile>;

/**
 * @param text the policy file
 * @throws SignerMistake with one line for the first mistake
 */
export function readPolicy(text: string): Policy {
  const file = checkShape(PolicyFile, text, mistake);
  const approvers = approversOf(file.approvers);
  checkResending(file);
  return {
    digest: createHash('sha256').update(text).digest('hex'),
    erc20: networkOf(file.networks.erc20),
    trc20: file.networks.trc20 === undefined ? null : tronRules(file.networks.trc20),
    spl: file.networks.spl === undefined ? null : solanaRules(file.networks.spl),
    payouts: paymentRules(file.payouts, 'payouts', file.approvers.length),
    refunds: paymentRules(file.refunds, 'refunds', file.approvers.length),
    approvers,
    accounts: merchantsOf(file.accounts, 'accounts'),
    freezeAfter: file.freeze_after_refusals ?? FREEZE_AFTER,
    learnedPerDay: BigInt(file.learned_per_day ?? LEARNED_PER_DAY),
  };
}

function paymentRules(
  text: PolicyText['payouts'],
  at: 'payouts' | 'refunds',
  approversNamed: number,
): PaymentRules {
  const { approvals = 1, approve_above = '0', unapproved_per_day, resend_per_day = '0' } = text;
  if (approvals > approversNamed)
    throw mistake(
      `${at}.approvals needs ${approvals} ${approvals === 1 ? 'person' : 'people'} and approvers names ` +
        `${approversNamed}: name more, or need fewer.`,
    );
  checkOrder(at, text, unitsOf, 'per_transfer', 'per_hour', 'per_day');
  checkOrder(at, text, unitsOf, 'per_merchant_day', 'per_day');
  return {
    perTransfer: unitsOf(text.per_transfer),
    perHour: unitsOf(text.per_hour),
    perDay: unitsOf(text.per_day),
    perMerchantDay: unitsOf(text.per_merchant_day),
    approveAbove: unitsOf(approve_above),
    approvals,
    unapprovedPerDay: unitsOf(unapproved_per_day ?? text.per_day),
    resendPerDay: unitsOf(resend_per_day),
  };
}

/** Without a node that shows it, no transaction of spl is ever dead: one that failed would be the last one of its items. */
function checkResending({ networks: { spl }, payouts, refunds }: PolicyText): void {
  if (spl === undefined || spl.node !== undefined) return;
  const budgets = [
    ['payouts', payouts],
    ['refunds', refunds],
  ] as const;
  for (const [at, budget] of budgets)
    if (unitsOf(budget.resend_per_day ?? '0') < unitsOf(budget.per_transfer))
      throw mistake(
        `${at}.resend_per_day is below ${at}.per_transfer: what fails on spl could not be signed again. Raise it, or name ` +
          'networks.spl.node.',
      );
}

function networkOf(text: PolicyText['networks']['erc20']): NetworkRules {
  const at = 'networks.erc20';
  const tokens = new Map<SignerAsset, string>();
  for (const asset of ['USDT', 'USDC'] as const) {
    const address = text.tokens[asset];
    if (address !== undefined) tokens.set(asset, addressIn(address, `${at}.tokens.${asset}`));
  }
  if (tokens.size === 0) throw mistake(`${at}.tokens names no token.`);
  if (new Set(tokens.values()).size < tokens.size) throw mistake(`${at}.tokens are one address.`);
  const taken = new Set(tokens.values());
  const contractIn = (field: 'batch_payout' | 'collector'): string | null => {
    const named = text[field];
    if (named === undefined) return null;
    const address = addressIn(named, `${at}.${field}`);
    if (taken.has(address)) throw mistake(`${at}.${field} is the address of a token.`);
    return address;
  };
  const [batchPayout, collector] = [contractIn('batch_payout'), contractIn('collector')];
  if (collector !== null && collector === batchPayout)
    throw mistake(`${at}.collector is the address of batch_payout.`);
  if (BigInt(text.max_priority_fee_per_gas) > BigInt(text.max_fee_per_gas))
    throw mistake(`${at}.max_priority_fee_per_gas is above ${at}.max_fee_per_gas.`);
  if (BigInt(text.gas_top_up) > BigInt(text.gas_top_ups_per_day))
    throw mistake(`${at}.gas_top_up is above ${at}.gas_top_ups_per_day.`);
  return {
    chainId: BigInt(text.chain_id),
    tokens,
    batchPayout,
    collector,
    coldOwners: coldOwnersOf(text.cold_owners ?? {}, `${at}.cold_owners`, [...taken, collector, batchPayout]),
    node: nodeOf(text.node, at),
    maxFeePerGas: BigInt(text.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(text.max_priority_fee_per_gas),
    gasPerTransaction: BigInt(text.gas_per_transaction),
    nativeFeePerDay: BigInt(text.native_fee_per_day),
    gasTopUp: BigInt(text.gas_top_up),
    gasTopUpsPerDay: BigInt(text.gas_top_ups_per_day),
    approveCeiling: unitsOf(text.approve_ceiling),
  };
}

function coldOwnersOf(
  text: Record<string, string>,
  at: string,
  contracts: readonly (string | null)[],
): ReadonlyMap<number, string> {
  return new Map(
    Object.entries(text).map(([account, typed]) => {
      const address = addressIn(typed, `${at}.${account}`);
      if (contracts.includes(address)) throw mistake(`${at}.${account} is a contract, which calls nobody.`);
      return [Number(account), address];
    }),
  );
}

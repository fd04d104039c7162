import Type, { type Static } from 'typebox';
import {
  AccountNames,
  checkOrder,
  closed,
  coins,
  Money,
  merchantsOf,
  mistake,
  unitsOf,
} from './policy-text.ts';
import type { SignerAsset } from './protocol.ts';
import { isOnCurve, readSolanaAddress } from './solana/address.ts';
import type { ChargeRules, SolanaRules } from './solana/purposes.ts';
import { readTronAddress } from './tron/address.ts';
import type { TronRules } from './tron/purposes.ts';

// The parts of a policy about Tron and Solana, which may both be absent.

/** The most that a node of Tron takes (`getMaxFeeLimit`). */
const FEE_LIMIT_MAX = 15_000_000_000n;
/** Of Solana's mainnet, whose coins have value. */
const SOLANA_MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const COMPUTE_UNITS_MAX = 1_400_000;

const TronAddress = Type.String({
  pattern: '^T[1-9A-HJ-NP-Za-km-z]{33}$',
  description: 'an address of Tron: T and 33 characters of base58 in quotes',
});
const SolanaAddress = Type.String({
  pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$',
  description: 'an address of Solana: 32 to 44 characters of base58 in quotes',
});

export const NodeText = Type.String({
  pattern: '^https?://',
  description: 'the address of a node: https://…',
});

export const TronText = closed({
  genesis: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: "the id of the network's first block: 64 small hex digits in quotes",
  }),
  tokens: closed({ USDT: Type.Optional(TronAddress), USDC: Type.Optional(TronAddress) }),
  collector: Type.Optional(TronAddress),
  fee_limit: coins('sun'),
  native_fee_per_day: coins('sun'),
  native_fee_per_merchant_day: Type.Optional(coins('sun')),
  gas_top_up: coins('sun'),
  gas_top_ups_per_day: coins('sun'),
  accounts: Type.Optional(AccountNames),
});

export const SolanaText = closed({
  genesis: Type.String({
    pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$',
    description: "the hash of the network's first block: 32 to 44 characters of base58 in quotes",
  }),
  tokens: closed({ USDT: Type.Optional(SolanaAddress), USDC: Type.Optional(SolanaAddress) }),
  compute_units: Type.Integer({ minimum: 1, maximum: COMPUTE_UNITS_MAX }),
  priority_fee: coins('lamports'),
  native_fee_per_day: coins('lamports'),
  native_fee_per_merchant_day: Type.Optional(coins('lamports')),
  allow_program_owned: Type.Optional(Type.Boolean()),
  node: Type.Optional(NodeText),
  charges: Type.Optional(
    closed({
      per_transfer: Money,
      per_day: Money,
      per_merchant_day: Type.Optional(Money),
      resend_per_day: Type.Optional(Money),
    }),
  ),
  accounts: Type.Optional(AccountNames),
});

/** @throws SignerMistake with one line for the first mistake */
export function tronRules(text: Static<typeof TronText>): TronRules {
  const at = 'networks.trc20';
  const tokens = tokensOf(text.tokens, at, (address) => readTronAddress(address) !== undefined);
  const { collector = null } = text;
  if (collector !== null && readTronAddress(collector) === undefined)
    throw mistake(`${at}.collector has a wrong checksum: copy it again.`);
  if (collector !== null && [...tokens.values()].includes(collector))
    throw mistake(`${at}.collector is the address of a token.`);
  if (BigInt(text.fee_limit) > FEE_LIMIT_MAX)
    throw mistake(`${at}.fee_limit is above ${FEE_LIMIT_MAX}, the most that the network takes.`);
  checkOrder(at, text, BigInt, 'gas_top_up', 'gas_top_ups_per_day');
  return {
    genesis: text.genesis,
    tokens,
    collector,
    feeLimit: BigInt(text.fee_limit),
    ...feesOfDay(text, at),
    gasTopUp: BigInt(text.gas_top_up),
    gasTopUpsPerDay: BigInt(text.gas_top_ups_per_day),
    accounts: merchantsOf(text.accounts, `${at}.accounts`),
  };
}

/** @throws SignerMistake with one line for the first mistake */
export function solanaRules(text: Static<typeof SolanaText>): SolanaRules {
  const at = 'networks.spl';
  if (readSolanaAddress(text.genesis) === undefined) throw mistake(`${at}.genesis has not 32 bytes.`);
  const tokens = tokensOf(text.tokens, at, (address) => {
    const key = readSolanaAddress(address);
    return key !== undefined && isOnCurve(key);
  });
  const { charges } = text;
  if (charges !== undefined && text.genesis === SOLANA_MAINNET)
    throw mistake(`${at}.charges: wallets are not charged for real money on Solana. Remove it.`);
  return {
    genesis: text.genesis,
    tokens,
    computeUnits: text.compute_units,
    priorityFee: BigInt(text.priority_fee),
    ...feesOfDay(text, at),
    allowProgramOwned: text.allow_program_owned ?? false,
    node: nodeOf(text.node, at),
    charges: charges === undefined ? null : chargeRules(charges, text.node, `${at}.charges`),
    accounts: merchantsOf(text.accounts, `${at}.accounts`),
  };
}

function feesOfDay(
  text: { native_fee_per_day: string; native_fee_per_merchant_day?: string | undefined },
  at: string,
): Pick<TronRules, 'nativeFeePerDay' | 'nativeFeePerMerchantDay'> {
  const { native_fee_per_day: all, native_fee_per_merchant_day: own } = text;
  if (own !== undefined) checkOrder(at, text, BigInt, 'native_fee_per_merchant_day', 'native_fee_per_day');
  return { nativeFeePerDay: BigInt(all), nativeFeePerMerchantDay: BigInt(own ?? all) };
}

function chargeRules(
  text: NonNullable<Static<typeof SolanaText>['charges']>,
  node: string | undefined,
  at: string,
): ChargeRules {
  const { per_merchant_day: perMerchantDay } = text;
  const ofMerchant = perMerchantDay === undefined ? [] : ['per_merchant_day'];
  checkOrder(at, text, unitsOf, 'per_transfer', ...ofMerchant, 'per_day');
  if (node === undefined)
    throw mistake(
      `${at} needs networks.spl.node: a charge that failed would count to its payer's window, which would have no room for ` +
        'the next one.',
    );
  return {
    perTransfer: unitsOf(text.per_transfer),
    perDay: unitsOf(text.per_day),
    perMerchantDay: unitsOf(perMerchantDay ?? text.per_day),
    resendPerDay: unitsOf(text.resend_per_day ?? '0'),
  };
}

/** A node of the operator's own. @throws SignerMistake where somebody in between could answer for it */
export function nodeOf(text: string | undefined, at: string): string | null {
  if (text === undefined) return null;
  const url = URL.parse(text);
  const isHere = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url?.protocol !== 'https:' && !isHere)
    throw mistake(
      `${at}.node is on another machine and not https: whoever is in between could answer for it.`,
    );
  return text;
}

function tokensOf(
  text: { USDT?: string | undefined; USDC?: string | undefined },
  at: string,
  isSound: (address: string) => boolean,
): ReadonlyMap<SignerAsset, string> {
  const tokens = new Map<SignerAsset, string>();
  for (const asset of ['USDT', 'USDC'] as const) {
    const address = text[asset];
    if (address === undefined) continue;
    if (!isSound(address)) throw mistake(`${at}.tokens.${asset} is no address of a token: copy it again.`);
    tokens.set(asset, address);
  }
  if (tokens.size === 0) throw mistake(`${at}.tokens names no token.`);
  if (new Set(tokens.values()).size < tokens.size) throw mistake(`${at}.tokens are one address.`);
  return tokens;
}

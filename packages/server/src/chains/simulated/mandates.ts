import type { Asset, Network } from '@florin/contract/money';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { keccak256 } from '../addresses/keccak.ts';
import type { Mandate, MandateRequest, MandateSetup, MandateStep } from '../port/port.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';
import { walletOf, walletOfLabel } from './wallet.ts';

/** The spender that pulls: the collector's contract where there is one, else the wallet that sends the charges. */
export function spenderOf({ merchantId, network }: ChainId): string {
  if (NETWORK_RULES[network].capabilities.windowCap)
    return walletOfLabel(network, `collector of ${merchantId}`).address;
  return walletOf(merchantId, network, 'hot').address;
}

/** The mandate's id: a digest of its terms and of this chain. */
export function mandateIdOf({ merchantId, network }: ChainId, terms: Omit<Mandate, 'mandateId'>): string {
  const { asset, payer, recipient, cap, period, startsAt, endsAt, subscriptions, salt } = terms;
  const parts = [merchantId, network, asset, payer, recipient, String(cap), period, startsAt, endsAt, salt];
  if (subscriptions !== undefined) parts.push(subscriptions);
  return inFormOf(network, Buffer.from(JSON.stringify(parts)));
}

function inFormOf(network: Network, message: Uint8Array): string {
  if (network === 'erc20') return `0x${Buffer.from(keccak256(message)).toString('hex')}`;
  return network === 'spl' ? base58.encode(sha256(message)) : Buffer.from(sha256(message)).toString('hex');
}

/** As the real ones: USDC takes a signature for an approval, USDT does not. */
const hasPermit = (id: ChainId, asset: Asset) => id.network === 'erc20' && asset === 'USDC';

export function setupOf(id: ChainId, { allowance, permitUntil, ...terms }: MandateRequest): MandateSetup {
  const complete = { ...terms, recipient: walletOf(id.merchantId, id.network, 'hot').address };
  const mandate = { ...complete, mandateId: mandateIdOf(id, complete) };
  const spender = spenderOf(id);
  const { mandateId, asset } = mandate;
  const approval = { asset, spender, amount: allowance };
  const approve: MandateStep =
    permitUntil !== undefined && hasPermit(id, asset)
      ? { ...approval, kind: 'permit', nonce: 0n, deadline: permitUntil }
      : { ...approval, kind: 'approve' };
  const { windowCap } = NETWORK_RULES[id.network].capabilities;
  const steps = windowCap ? [approve, { kind: 'activate', mandateId } as const] : [approve];
  return { mandate, spender, steps };
}

import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { fromHex } from '../bytes.ts';
import type { MandateTerms } from '../mandate-terms.ts';
import type { SignerAsset } from '../protocol.ts';
import { solanaAddressBytes } from './address.ts';

/** All that a payer's wallet signs; addresses in base58. */
export interface SolanaMandate {
  /** Hash of the network's first block. */
  genesis: string;
  asset: SignerAsset;
  mint: string;
  payer: string;
  /** The hot wallet of the merchant: what is charged goes there and nowhere else. */
  recipient: string;
  terms: MandateTerms;
}

const UNITS = 1_000_000n;

/**
 * The message that the payer's wallet shows and signs, in ASCII: first what it means, then each field on a line of its own, so that no
 * two mandates have one text.
 */
export function mandateText({ genesis, asset, mint, payer, recipient, terms }: SolanaMandate): string {
  const { cap, period, startsAt, endsAt, subscriptions, salt } = terms;
  const most = `${tokensOf(BigInt(cap))} ${asset} in each ${period}`;
  const lines = [
    'Florin mandate 1',
    `I allow charges of at most ${most}, for each of at most ${subscriptions} subscription(s), to the wallet named as recipient.`,
    // A wallet's own words for an approval know no period.
    'The service that charges keeps this limit. The network keeps only the total that I approve.',
    `network ${genesis}`,
    `payer ${payer}`,
    `recipient ${recipient}`,
    `asset ${asset}`,
    `mint ${mint}`,
    `cap ${cap}`,
    `period ${period}`,
    `starts_at ${startsAt}`,
    `ends_at ${endsAt ?? 'never'}`,
    `subscriptions ${subscriptions}`,
    `salt ${salt}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Two digits after the point or more, and not three, which read as thousands. */
function tokensOf(units: bigint): string {
  const rest = String(units % UNITS)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${units / UNITS}.${rest.length === 3 ? `${rest}0` : rest}`;
}

/** In base58: of 32 bytes, as ids of the network are. */
export const mandateIdOf = (mandate: SolanaMandate): string =>
  base58.encode(sha256(new TextEncoder().encode(mandateText(mandate))));

/** @param signature hex; whatever is none is no signature */
export function isMandateSigned(mandate: SolanaMandate, signature: string): boolean {
  if (!/^0x[0-9a-f]{128}$/.test(signature)) return false;
  const message = new TextEncoder().encode(mandateText(mandate));
  // The strict rule: a key of small order, which anybody can sign for, signs nothing by it.
  return ed25519.verify(fromHex(signature), message, solanaAddressBytes(mandate.payer), { zip215: false });
}

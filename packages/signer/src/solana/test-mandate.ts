import { ed25519 } from '@noble/curves/ed25519.js';
import type { Key } from '../accounts.ts';
import { toHex } from '../bytes.ts';
import type { MandatedCharge, MandateTerms } from '../mandate-terms.ts';
import { mandateText, type SolanaMandate } from './mandate.ts';

/** For tests: what a payer signs, and a charge of it. */
export interface MandateChanges {
  terms?: Partial<MandateTerms>;
  charged?: Partial<Pick<MandatedCharge, 'subscription' | 'windowStart' | 'windowEnd'>>;
}

const SUBSCRIPTION = '01890000-0000-7000-8000-00000000005b';
const MONTH = 31 * 86_400;

/** @param start Unix seconds, of mandate and window */
export function mandateOf(
  key: Key,
  { start, ...of }: Omit<SolanaMandate, 'payer' | 'terms'> & { start: number },
  { terms, charged }: MandateChanges = {},
): MandatedCharge {
  const signed: MandateTerms = {
    cap: '1000000000000',
    period: 'month',
    startsAt: start,
    endsAt: null,
    subscriptions: 2,
    salt: SUBSCRIPTION,
    ...terms,
  };
  const text = mandateText({ ...of, payer: key.address, terms: signed });
  const window = { subscription: SUBSCRIPTION, windowStart: start, windowEnd: start + MONTH };
  return {
    terms: signed,
    signature: toHex(ed25519.sign(new TextEncoder().encode(text), key.privateKey)),
    ...window,
    ...charged,
  };
}

import { memoOf, type SolanaInstruction, tokenAccountOf } from '@florin/signer/solana';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type ChargeSpec, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { assertFits, type Draft } from './build-payment.ts';
import { computeUnits } from './fees.ts';
import { isMandateOf, type Place, termsOn } from './signed-terms.ts';

const DECIMALS = 6;

/**
 * A transaction by which the delegate pulls from the payer's account into the hot wallet's, which it opens where there is none. The
 * memo makes each charge another transaction.
 *
 * @throws UnbuildableTransfer: the signer would count what it refuses against its server
 */
export function buildChargeDraft(
  place: Place,
  spec: ChargeSpec,
): { draft: Draft; purpose: Extract<AskedPurpose, { kind: 'charge' }> } {
  const { mandate, chargeId, amount, signature } = spec;
  const { network, wallets, delegate } = place;
  if (spec.keyRef !== 'hot') throw new UnbuildableTransfer('charges go into the hot wallet alone');
  if (amount <= 0n || amount > AMOUNT_MAX) throw new UnbuildableTransfer(`a charge of ${amount} units`);
  const signed = termsOn(place, mandate);
  if (signature === undefined || !isMandateOf(place, mandate, signature))
    throw new UnbuildableTransfer('the mandate is not signed by its payer for this wallet of ours');
  const { mint, payer, asset } = signed;
  const { hot, feePayer } = wallets;
  const destination = tokenAccountOf(hot, mint);
  const source = tokenAccountOf(payer, mint);
  const memo = memoFor(chargeId);
  const steps: SolanaInstruction[] = [
    { kind: 'memo', text: memo },
    { kind: 'createTokenAccount', payer: feePayer, account: destination, owner: hot, mint },
    { kind: 'transfer', source, mint, destination, authority: delegate, amount, decimals: DECIMALS },
  ];
  const units = computeUnits({ memoBytes: [Buffer.byteLength(memo)], created: 1, transfers: 1 });
  const { subscriptionId: subscription, windowStart, windowEnd } = spec;
  const by = { terms: signed.terms, signature, subscription, windowStart, windowEnd };
  return {
    draft: assertFits(network, { version: 0, feePayer, units, steps }),
    purpose: { kind: 'charge', id: chargeId, asset, payer, amount: String(amount), mandate: by },
  };
}

function memoFor(chargeId: string): string {
  try {
    return memoOf(chargeId);
  } catch {
    throw new UnbuildableTransfer('a charge is named by a UUID');
  }
}

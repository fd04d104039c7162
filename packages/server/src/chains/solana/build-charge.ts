import { isMandateSigned, memoOf, type SolanaInstruction, tokenAccountOf } from '@florin/signer/solana';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type ChargeSpec, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { assertFits, type Draft } from './build-payment.ts';
import { computeUnits } from './fees.ts';
import { knownTerms, type Place } from './signed-terms.ts';

const DECIMALS = 6;

/**
 * A transaction by which the delegate pulls from the payer's account into the hot wallet's. The memo makes each charge another
 * transaction.
 *
 * @param opened accounts of ours that are there: where the hot wallet has none, the transaction opens it
 * @throws UnservedMandate, UnbuildableTransfer: the signer would count what it refuses against its server
 */
export function buildChargeDraft(
  place: Place,
  { spec, opened }: { spec: ChargeSpec; opened: ReadonlySet<string> },
): { draft: Draft; purpose: Extract<AskedPurpose, { kind: 'charge' }> } {
  const { mandate, chargeId, amount, signature } = spec;
  const { network, wallets, delegate } = place;
  if (spec.keyRef !== 'hot') throw new UnbuildableTransfer('charges go into the hot wallet alone');
  if (amount <= 0n || amount > AMOUNT_MAX) throw new UnbuildableTransfer(`a charge of ${amount} units`);
  const signed = knownTerms(place, mandate);
  if (signature === undefined || !isMandateSigned(signed, signature))
    throw new UnbuildableTransfer('the mandate is not signed by its payer');
  const { mint, payer, asset } = signed;
  const { hot, feePayer } = wallets;
  const destination = tokenAccountOf(hot, mint);
  const source = tokenAccountOf(payer, mint);
  const memo = memoFor(chargeId);
  const opening = {
    kind: 'createTokenAccount',
    payer: feePayer,
    account: destination,
    owner: hot,
    mint,
  } as const;
  const isOpen = opened.has(destination);
  const steps: SolanaInstruction[] = [
    { kind: 'memo', text: memo },
    ...(isOpen ? [] : [opening]),
    { kind: 'transfer', source, mint, destination, authority: delegate, amount, decimals: DECIMALS },
  ];
  const created = isOpen ? 0 : 1;
  const units = computeUnits({ memoBytes: [Buffer.byteLength(memo)], created, transfers: 1 });
  const { subscriptionId: subscription, windowStart, windowEnd } = spec;
  const by = { terms: signed.terms, signature, subscription, windowStart, windowEnd };
  return {
    draft: assertFits(network, { version: 0, feePayer, units, steps, optional: [opening] }),
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

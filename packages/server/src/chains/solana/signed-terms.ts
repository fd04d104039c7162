import { isMandateSigned, mandateIdOf, type SolanaMandate } from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
import { UnservedMandate } from '../charges/charge-errors.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type Mandate, UnbuildableTransfer } from '../port/port.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaWallets } from './reader.ts';

const SALT = /^[!-~]{1,64}$/;

/** Where wallets are charged, and into which of ours. */
export interface Place {
  network: SolanaNetwork;
  wallets: Pick<SolanaWallets, 'hot' | 'feePayer'>;
  delegate: string;
}

/**
 * @returns undefined where no wallet is charged: the signer's policy has no charges, or money is real (decision 184)
 * @throws SignerUnavailable
 */
export async function placeOf({
  network,
  wallets,
}: {
  network: SolanaNetwork;
  wallets: SolanaWallets;
}): Promise<Place | undefined> {
  const delegate = network.isTest ? await wallets.delegate() : null;
  return delegate === null ? undefined : { network, wallets, delegate };
}

type Terms = Omit<Mandate, 'mandateId' | 'recipient'>;

/**
 * What the payer's wallet signs of these terms, into the merchant's hot wallet.
 *
 * @throws UnbuildableTransfer where they are none of this network
 */
export function termsOn({ network, wallets, delegate }: Place, terms: Terms): SolanaMandate {
  const { asset, payer, cap, period, startsAt, endsAt, subscriptions, salt } = terms;
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`a mandate on ${network.name}: ${why}`);
  };
  const mint = network.tokens[asset]?.mint;
  if (mint === undefined) throw new UnservedMandate(`a mandate on ${network.name}: there is no ${asset}`);
  const { hot, feePayer } = wallets;
  // A program's account signs nothing.
  if (!checkSplAddress(payer).ok || [hot, feePayer, delegate].includes(payer)) refuse('no wallet of a payer');
  if (cap <= 0n || cap > AMOUNT_MAX) refuse('cap out of range');
  if (subscriptions === undefined || !Number.isInteger(subscriptions) || subscriptions < 1)
    throw new UnbuildableTransfer(`a mandate on ${network.name} is for a number of subscriptions`);
  if (!SALT.test(salt)) refuse('its salt is no text of up to 64 characters');
  return {
    genesis: network.genesisHash,
    asset,
    mint,
    payer,
    recipient: hot,
    terms: { cap: String(cap), period, startsAt, endsAt, subscriptions, salt },
  };
}

/**
 * As `termsOn`, of a mandate that was given before.
 *
 * @throws UnservedMandate where it was given into another hot wallet, in another mint, or on another chain
 */
export function knownTerms(place: Place, mandate: Mandate): SolanaMandate {
  const signed = termsOn(place, mandate);
  if (mandate.recipient !== signed.recipient || mandate.mandateId !== mandateIdOf(signed))
    throw new UnservedMandate(
      'the mandate was given into another hot wallet, in another mint or on another chain than the signer and the networks file name',
    );
  return signed;
}

/** Whether a mandate names a hot wallet, token or chain by which nobody charges here: what its wallet allows then tells nothing of it. */
export function isUnserved(place: Place, mandate: Mandate): boolean {
  try {
    knownTerms(place, mandate);
    return false;
  } catch (error) {
    return error instanceof UnservedMandate;
  }
}

/** Whether a mandate is one into the hot wallet whose payer has signed it. */
export function isMandateOf(place: Place, mandate: Mandate, signature: string): boolean {
  try {
    return isMandateSigned(knownTerms(place, mandate), signature);
  } catch (error) {
    if (error instanceof UnservedMandate) return false;
    throw error;
  }
}

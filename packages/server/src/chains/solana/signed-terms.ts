import { isMandateSigned, mandateIdOf, type SolanaMandate } from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
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

/** @throws UnbuildableTransfer where no wallet is charged; SignerUnavailable */
export async function placeOf({
  network,
  wallets,
}: {
  network: SolanaNetwork;
  wallets: SolanaWallets;
}): Promise<Place> {
  const delegate = await wallets.delegate();
  if (delegate === null) throw new UnbuildableTransfer('wallets are not charged on this network');
  return { network, wallets, delegate };
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
  const mint = network.tokens[asset]?.mint ?? refuse(`there is no ${asset}`);
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

/** Whether a mandate is one into the hot wallet whose payer has signed it. */
export function isMandateOf(place: Place, mandate: Mandate, signature: string): boolean {
  const signed = termsOn(place, mandate);
  return (
    mandate.recipient === signed.recipient &&
    mandate.mandateId === mandateIdOf(signed) &&
    isMandateSigned(signed, signature)
  );
}

import type { ChargeSpec, Mandate, SignedPermit } from '../../chains/port/index.ts';

/** A charge's mandate and window, without its amount. */
export type ChargeOrder = Pick<ChargeSpec, 'mandate' | 'subscriptionId' | 'windowStart' | 'windowEnd'>;

/** The same as stored JSON: the cap is text. */
export type StoredCharge = Omit<ChargeOrder, 'mandate'> & { mandate: StoredMandate };
export type StoredMandate = Omit<Mandate, 'cap'> & { cap: string };

export type StoredPermit = Omit<SignedPermit, 'amount' | 'nonce'> & { amount: string; nonce: string };

export const storedPermit = (permit: SignedPermit): StoredPermit => ({
  ...permit,
  amount: String(permit.amount),
  nonce: String(permit.nonce),
});
export const permitOf = (permit: StoredPermit): SignedPermit => ({
  ...permit,
  amount: BigInt(permit.amount),
  nonce: BigInt(permit.nonce),
});

export const storedMandate = (mandate: Mandate): StoredMandate => ({ ...mandate, cap: String(mandate.cap) });
export const mandateOf = (mandate: StoredMandate): Mandate => ({ ...mandate, cap: BigInt(mandate.cap) });

export function storedCharge({ mandate, ...rest }: ChargeOrder): StoredCharge {
  return { ...rest, mandate: storedMandate(mandate) };
}

export function chargeOf({ mandate, ...rest }: StoredCharge): ChargeOrder {
  return { ...rest, mandate: mandateOf(mandate) };
}

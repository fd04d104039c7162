import type { ChargeSpec, Mandate } from '../../chains/port/index.ts';

/** A charge's mandate and window, without its amount. */
export type ChargeOrder = Pick<ChargeSpec, 'mandate' | 'subscriptionId' | 'windowStart' | 'windowEnd'>;

/** The same as stored JSON: the cap is text. */
export type StoredCharge = Omit<ChargeOrder, 'mandate'> & { mandate: Omit<Mandate, 'cap'> & { cap: string } };

export function storedCharge({ mandate, ...rest }: ChargeOrder): StoredCharge {
  return { ...rest, mandate: { ...mandate, cap: String(mandate.cap) } };
}

export function chargeOf({ mandate, ...rest }: StoredCharge): ChargeOrder {
  return { ...rest, mandate: { ...mandate, cap: BigInt(mandate.cap) } };
}

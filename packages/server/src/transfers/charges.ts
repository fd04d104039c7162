import type { ChargeSpec, Mandate } from '../chains/index.ts';

/** What a charge says of its mandate beside its amount. */
export type ChargeOrder = Pick<ChargeSpec, 'mandate' | 'subscriptionId' | 'windowStart' | 'windowEnd'>;

/** The same in the form of JSON: units are text. */
export type StoredCharge = Omit<ChargeOrder, 'mandate'> & { mandate: Omit<Mandate, 'cap'> & { cap: string } };

export function storedCharge({ mandate, ...rest }: ChargeOrder): StoredCharge {
  return { ...rest, mandate: { ...mandate, cap: String(mandate.cap) } };
}

export function chargeOf({ mandate, ...rest }: StoredCharge): ChargeOrder {
  return { ...rest, mandate: { ...mandate, cap: BigInt(mandate.cap) } };
}

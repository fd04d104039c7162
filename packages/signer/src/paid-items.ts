import type { PurposeItem } from './protocol.ts';
import { Refused } from './refusal.ts';
import type { Payment } from './statement.ts';

export const differs = (what: string) =>
  new Refused('purpose', `the transaction is not what its purpose says: ${what}.`);

/** What a network has for recipients. */
export interface Recipients {
  /** An address in the form in which it is compared; undefined where it is none of this network. */
  read(text: string): string | undefined;
  /** Whether coins would be lost there. */
  isLost(address: string): boolean;
}

/**
 * The items of the places that this transaction pays, in their order. Only these are checked: a bad item of the group, in
 * another transaction, does not stop them.
 */
export function paidItems({ items, places }: Payment, recipients: Recipients): PurposeItem[] {
  for (const [i, { place }] of items.entries())
    if (place !== i) throw differs(`item ${i} has the place ${place}`);
  if (new Set(places).size < places.length) throw differs('it names a place twice');
  return places.map((place) => {
    const item = items[place];
    if (item === undefined) throw differs(`there is no item ${place}`);
    const to = recipients.read(item.to);
    if (to === undefined) throw differs(`the address of place ${place} is none of this network`);
    if (recipients.isLost(to)) throw differs(`place ${place} pays ${to}, where coins would be lost`);
    if (item.amount === '0') throw differs(`place ${place} pays nothing`);
    return { ...item, to };
  });
}

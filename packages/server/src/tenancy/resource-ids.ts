import { decodeUuid, encodeUuid } from '../platform/db/ids/index.ts';
import { unknownCursor } from '../platform/db/lists/index.ts';

/** The prefix of each kind of public id. */
export const ID_PREFIXES = {
  merchant: 'mer',
  store: 'store',
  key: 'key',
  approver: 'apr',
  payoutBatch: 'pb',
  payoutItem: 'pbi',
  ledgerEntry: 'le',
  journal: 'jrn',
  transfer: 'tr',
  fund: 'fund',
  fill: 'fill',
  surplus: 'sur',
  event: 'evt',
  checkoutSession: 'cs',
  payment: 'pay',
  customer: 'cus',
  paymentLink: 'plink',
  paymentMethod: 'pm',
  subscription: 'sub',
  subscriptionItem: 'si',
  price: 'price',
  invoice: 'in',
  webhookEndpoint: 'we',
  delivery: 'whd',
  mail: 'mail',
  user: 'usr',
  session: 'cses',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** `pb` + a UUID → `pb_01h…`: TypeID's form. */
export function encodeId(kind: IdKind, uuid: string): string {
  return `${ID_PREFIXES[kind]}_${encodeUuid(uuid)}`;
}

/** The UUID of a public id of that kind; undefined for any other text, so that malformed ids are treated as unknown. */
export function decodeId(kind: IdKind, text: string): string | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  return text.startsWith(prefix) ? decodeUuid(text.slice(prefix.length)) : undefined;
}

/** Decodes a `starting_after`. @throws Fail for a malformed id */
export function cursorIdOf(kind: IdKind, after: string | undefined): string | undefined {
  const id = after === undefined ? undefined : decodeId(kind, after);
  if (after !== undefined && id === undefined) throw unknownCursor();
  return id;
}

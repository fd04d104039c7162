import { CURRENCIES, exponentOf, isCurrency, parsePrice } from '@florin/contract/currencies';
import { storedAddress, storedTxId } from '../../chains/addresses/index.ts';
import { decodeUuid } from '../../platform/db/ids/index.ts';
import { ID_PREFIXES, type IdKind } from '../../tenancy/index.ts';

/** Ids that begin with the digits that were typed: from one UUID to another, both inclusive. */
export interface IdRange {
  kind: IdKind;
  from: string;
  to: string;
}

/** What a text may be that somebody typed to find something. */
export interface Terms {
  /** As it was typed, without spaces around it. */
  text: string;
  ids: IdRange | undefined;
  email: string | undefined;
  /** As it is stored. */
  address: string | undefined;
  /** As it is stored. */
  txId: string | undefined;
  /** An amount, in each currency that it may be of. */
  sums: Sum[];
}

/** An amount in the smallest unit of its currency. */
export interface Sum {
  currency: string;
  units: bigint;
}

/** `12.50`, `1,250.00 USDT` */
const AMOUNT = /^(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.(\d{1,6}))?(?: ?([a-z]{3,4}))?$/i;

function sumsOf(text: string): Sum[] {
  const [, whole = '', fraction = '', named] = AMOUNT.exec(text) ?? [];
  if (whole === '') return [];
  // Of a yen people write 100.00 too.
  let decimals = fraction;
  while (decimals.endsWith('0')) decimals = decimals.slice(0, -1);
  const price = whole.replaceAll(',', '').replace(/^0+(?=\d)/, '') + (decimals === '' ? '' : `.${decimals}`);
  const currencies = named === undefined ? CURRENCIES : [named.toUpperCase()].filter(isCurrency);
  return currencies.flatMap((currency) => {
    if (decimals.length > exponentOf(currency)) return [];
    const units = parsePrice(price, currency);
    return units > 0n && units <= UNITS_MAX ? [{ currency, units }] : [];
  });
}

const ID = /^([a-z]{2,5})_([0-9a-z]{4,26})$/;
const DIGITS = 26;
/** What the database keeps as an amount. */
const UNITS_MAX = 2n ** 63n - 1n;

const isKind = (name: string): name is IdKind => Object.hasOwn(ID_PREFIXES, name);
const KINDS = new Map(
  Object.entries(ID_PREFIXES).flatMap(([kind, prefix]) =>
    isKind(kind) ? [[prefix as string, kind] as const] : [],
  ),
);

function idsOf(text: string): IdRange | undefined {
  const [, prefix = '', digits = ''] = ID.exec(text.toLowerCase()) ?? [];
  const kind = KINDS.get(prefix);
  const from = decodeUuid(digits.padEnd(DIGITS, '0'));
  const to = decodeUuid(digits.padEnd(DIGITS, 'z'));
  return kind === undefined || from === undefined || to === undefined ? undefined : { kind, from, to };
}

/** Reads what was typed. Nothing of it is refused: what is unknown is found nowhere. */
export function termsOf(typed: string): Terms {
  const text = typed.trim();
  return {
    text,
    ids: idsOf(text),
    email: text.includes('@') ? text.toLowerCase() : undefined,
    address: storedAddress(text),
    txId: storedTxId(text),
    sums: sumsOf(text),
  };
}

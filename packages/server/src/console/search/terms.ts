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
}

const ID = /^([a-z]{2,5})_([0-9a-z]{4,26})$/;
const DIGITS = 26;

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
  };
}

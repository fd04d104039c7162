import type { Operation } from './document.ts';

export type Header = readonly [name: string, value: string];

/** A request before it is signed. `{{batch_id:2}}` in it stands for an id that an earlier answer brought. */
export interface Draft {
  operation: Operation;
  /** What was done to it, for the report. */
  tweak: string;
  method: string;
  path: string;
  /** Without the question mark; '' for none. */
  query: string;
  headers: readonly Header[];
  body: string | Uint8Array | undefined;
  chunked: boolean;
  /** Breaks the headers of authentication. */
  tamper?: (headers: readonly Header[]) => readonly Header[];
  /** `fits`: only what the design names may refuse it. Else the statuses of which one has to come. */
  expected: 'fits' | readonly number[];
  /** It names an operation of the document: the document lists every status that may come. */
  routed: boolean;
}

/** The parts that fit an operation, each on its own. */
export interface Parts {
  operation: Operation;
  ids: Readonly<Record<string, string>>;
  query: readonly (readonly [name: string, value: string])[];
  key: string | undefined;
  /** undefined: no body. */
  value: unknown;
}

export const pathOf = ({ operation, ids }: Parts) =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);

/** Percent-encodes all but the places for ids. */
export const encoded = (text: string) =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll('%7B%7B', '{{')
    .replaceAll('%7D%7D', '}}')
    .replaceAll('%3A', ':');

export const queryOf = (pairs: Parts['query']) =>
  pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');

/** The request that the parts make, changed where the tweak says so. */
export function draftOf(parts: Parts, changes: Partial<Draft> = {}): Draft {
  const body = parts.value === undefined ? undefined : JSON.stringify(parts.value);
  const draft: Draft = {
    operation: parts.operation,
    tweak: 'none',
    method: parts.operation.method,
    path: pathOf(parts),
    query: queryOf(parts.query),
    headers: [],
    body,
    chunked: false,
    expected: 'fits',
    routed: true,
    ...changes,
  };
  const own: Header[] = [];
  if (parts.key !== undefined) own.push(['Idempotency-Key', parts.key]);
  const named = draft.headers.some(([name]) => name === 'Content-Type');
  if (draft.body !== undefined && !named) own.push(['Content-Type', 'application/json']);
  return { ...draft, headers: [...own, ...draft.headers] };
}

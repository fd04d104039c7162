import Type, { type Static } from 'typebox';
import type { Endpoint } from './endpoint.ts';

// What an entry of the networks file says alike of every network.

const closed = { additionalProperties: false };

/** `own`: the operator's own node, whose word alone is enough. */
export const EndpointEntries = Type.Array(
  Type.Union([Type.String(), Type.Object({ url: Type.String(), own: Type.Boolean() }, closed)], {
    description: 'the URL of a node, or {"url": "https://…", "own": true} for your own node',
  }),
  { minItems: 1, maxItems: 8, description: 'a list of 1 to 8 endpoints' },
);

/** Links with `{tx_id}` and `{address}` in them; null where nobody shows this chain. */
export const ExplorerEntry = Type.Union(
  [Type.Object({ transaction: Type.String(), address: Type.String() }, closed), Type.Null()],
  { description: 'an object with transaction and address, or null' },
);

/** Takes what is wrong with a field, as `must be …` or `is …`. */
export type Complain = (field: string, wrong: string) => void;

export function checkExplorer(explorer: Static<typeof ExplorerEntry>, complain: Complain): void {
  if (explorer === null) return;
  for (const [field, part] of [
    ['transaction', '{tx_id}'],
    ['address', '{address}'],
  ] as const) {
    const link = explorer[field];
    if (!link.includes(part)) complain(`explorer.${field}`, `must contain ${part}`);
    else if (URL.parse(link.replace(part, '0x'))?.protocol !== 'https:')
      complain(`explorer.${field}`, 'must be a link that begins with https://');
  }
}

export function readEndpoints(given: Static<typeof EndpointEntries>, complain: Complain): Endpoint[] {
  const seen = new Map<string, number>();
  return given.map((one, place) => {
    const { url: text, own: isOwn } = typeof one === 'string' ? { url: one, own: false } : one;
    const field = `endpoints[${place}]`;
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      complain(field, 'must be a URL that begins with https:// or http://');
      return { url: text, isOwn };
    }
    if (url.protocol === 'http:' && !isOwn && !isLoopback(url.hostname))
      complain(field, 'is not encrypted: use https://, or mark your own node with "own": true');
    const first = seen.get(url.href);
    if (first !== undefined) complain(field, `is the same as endpoints[${first}]: remove one of them`);
    else seen.set(url.href, place);
    return { url: url.href, isOwn };
  });
}

export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/.test(host);
}

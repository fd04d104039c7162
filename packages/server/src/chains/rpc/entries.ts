import { ASSETS, type Asset } from '@florin/contract/money';
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

type TokenEntries = Readonly<Partial<Record<Asset, { address: string }>>>;

/**
 * The addresses of an entry's tokens: one at least, each with its own.
 *
 * @param isAddress whether the text is an address of the network, which is one of `what`
 */
export function readTokens(
  tokens: TokenEntries,
  { isAddress, what }: { isAddress: (text: string) => boolean; what: string },
  complain: Complain,
): Partial<Record<Asset, string>> {
  const addresses: Partial<Record<Asset, string>> = {};
  for (const asset of ASSETS) {
    const address = tokens[asset]?.address;
    if (address === undefined) continue;
    if (!isAddress(address)) complain(`tokens.${asset}.address`, `must be ${what}`);
    addresses[asset] = address;
  }
  if (Object.keys(addresses).length === 0) complain('tokens', 'is empty: name USDT, USDC or both');
  if (addresses.USDT !== undefined && addresses.USDT === addresses.USDC)
    complain('tokens.USDC.address', 'is the address of tokens.USDT.address too: give each its own');
  return addresses;
}

type EndpointEntry = string | { url: string; own: boolean; solid_url?: string };

export function readEndpoints(given: readonly EndpointEntry[], complain: Complain): Endpoint[] {
  const seen = new Map<string, number>();
  return given.map((one, place) => {
    const {
      url: text,
      own: isOwn,
      solid_url: solid,
    } = typeof one === 'string' ? { url: one, own: false } : one;
    const field = `endpoints[${place}]`;
    // One node that agrees with itself would be two, also where it serves the final blocks of another entry.
    const readOwn = (given: string, at: string) => {
      const url = readUrl(given, isOwn, (wrong) => complain(at, wrong));
      const first = seen.get(url) ?? place;
      if (first !== place) complain(at, `is the same as endpoints[${first}]: remove one of them`);
      seen.set(url, first);
      return url;
    };
    const url = readOwn(text, field);
    return solid === undefined
      ? { url, isOwn }
      : { url, isOwn, solidUrl: readOwn(solid, `${field}.solid_url`) };
  });
}

function readUrl(text: string, isOwn: boolean, complain: (wrong: string) => void): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    complain('must be a URL that begins with https:// or http://');
    return text;
  }
  if (url.protocol === 'http:' && !isOwn && !isLoopback(url.hostname))
    complain('is not encrypted: use https://, or mark your own node with "own": true');
  return url.href;
}

export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/.test(host);
}

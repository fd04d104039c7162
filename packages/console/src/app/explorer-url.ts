/** Where a network is looked up: links with `{tx_id}` and `{address}` in them. */
export interface Explorer {
  network: string;
  transaction: string;
  address: string;
}

/** The page of a transaction or address; undefined without an explorer, and for anything that is no link by https. */
export function explorerUrl(
  explorers: readonly Explorer[],
  { network, kind, id }: { network: string | null; kind: 'transaction' | 'address'; id: string },
): string | undefined {
  const explorer = explorers.find((one) => one.network === network);
  if (explorer === undefined) return undefined;
  const part = kind === 'transaction' ? '{tx_id}' : '{address}';
  const url = URL.parse(explorer[kind].replace(part, () => encodeURIComponent(id)));
  return url?.protocol === 'https:' ? url.href : undefined;
}

import type { BlockSource } from '../blocks/scan.ts';
import type { ChainTransfer } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { BlockFeed } from './blocks.ts';
import type { Header } from './headers.ts';
import type { IndexedTransfer } from './receipt-transfers.ts';
import type { Snapshot } from './tip.ts';
import type { LoggedTransfer } from './transfer-logs.ts';

interface EvmSource {
  feed: BlockFeed;
  /** From so many confirmations on two endpoints must agree on a transfer above the final block; null: never. */
  earlyConfirmations: number | null;
}

/** What a scan reads of an EVM network. */
export function blockSource(source: EvmSource): BlockSource<LoggedTransfer, Snapshot> {
  const { feed } = source;
  return {
    snapshot: (freshness) => feed.snapshot(freshness),
    finalTransfers: (from, to) => feed.finalTransfers(from, to),
    tipTransfers: ({ tip }, from) => feed.tipTransfers(tip.filter(({ height }) => height >= from)),
    present: (snapshot, transfers) => present(source, snapshot, transfers),
  };
}

/** Reads what a log alone does not tell: the place in its transaction and the time of its block. */
async function present(
  { feed, earlyConfirmations }: EvmSource,
  { final, head, tip }: Snapshot,
  found: readonly LoggedTransfer[],
): Promise<ChainTransfer[]> {
  const finalOnes = found.filter(({ height }) => height <= final.height);
  const mayBeCredited = ({ height }: LoggedTransfer) =>
    height <= final.height ||
    (earlyConfirmations !== null && head.height - height + 1n >= BigInt(earlyConfirmations));
  const indexed = [
    ...(await feed.withIndexes(found.filter(mayBeCredited), 'two')),
    ...(await feed.withIndexes(
      found.filter((one) => !mayBeCredited(one)),
      'one',
    )),
  ];
  const headers = await feed.finalHeaders(finalOnes.map(({ height }) => height));
  for (const header of tip) headers.set(header.height, header);
  return indexed.map((one) => toChainTransfer(one, headers.get(one.height)));
}

function toChainTransfer(one: IndexedTransfer, header: Header | undefined): ChainTransfer {
  if (header?.hash !== one.blockHash)
    throw new ChainUnavailable('erc20', `block ${one.height} was replaced while it was read`);
  const { txId, index, asset, from, to, amount, height } = one;
  return { txId, index, asset, from, to, amount, height, time: header.time };
}

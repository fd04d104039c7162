import type { BlockSource } from '../blocks/scan.ts';
import type { LoggedTransfer } from './block-transfers.ts';
import type { Snapshot, TronFeed } from './feed.ts';

/** What a scan reads of a Tron network. */
export function blockSource(feed: TronFeed): BlockSource<LoggedTransfer, Snapshot> {
  return {
    snapshot: (freshness) => feed.snapshot(freshness),
    finalTransfers: (from, to) => feed.finalTransfers(from, to),
    tipTransfers: (snapshot, from) => feed.tipTransfers(snapshot, from),
    present: async (_snapshot, transfers) =>
      transfers.map(({ txId, index, asset, from, to, amount, height, time }) => ({
        txId,
        index,
        asset,
        from,
        to,
        amount,
        height,
        time,
      })),
  };
}

import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Place } from './api.ts';

/** Queries that are refetched when the store changes: the cheap ones whose data events change. */
const FOLLOWING: ReadonlySet<unknown> = new Set([
  'list',
  'one',
  'events',
  'refunds',
  'refundable',
  'balances',
  'approvals',
]);
const isFollowing = ({ queryKey: [name] }: { queryKey: QueryKey }) => FOLLOWING.has(name);
/** The browser does not reconnect after an error status, such as a proxy's 502; the page opens a new stream after 10 s. */
const AGAIN_MS = 10_000;

/**
 * Refetches what the page shows when the store changes. A hidden page closes its stream, because browsers open at most six
 * connections to one host; it refetches when it becomes visible.
 */
export function useLiveUpdates({ merchant, store }: Place): void {
  const client = useQueryClient();
  useEffect(() => {
    const path = `/console/api/merchants/${merchant}/stores/${store}/changes`;
    const read = () => client.invalidateQueries({ predicate: isFollowing }, { cancelRefetch: false });
    const readAgain = async () => {
      const isUnderWay = client.isFetching({ predicate: isFollowing }) > 0;
      await read();
      // What was under way may have been read before the change.
      if (isUnderWay) await read();
    };
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const leave = () => {
      clearTimeout(again);
      source?.close();
    };
    const follow = () => {
      leave();
      if (document.hidden) return;
      source = new EventSource(path);
      // What was shown was read before the stream began: what changed in between is in neither.
      for (const kind of ['open', 'changed']) source.addEventListener(kind, () => void readAgain());
      source.addEventListener('error', () => {
        if (source?.readyState !== EventSource.CLOSED) return;
        clearTimeout(again);
        again = setTimeout(follow, AGAIN_MS);
      });
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      leave();
    };
  }, [client, merchant, store]);
}

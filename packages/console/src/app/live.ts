import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Place } from './api.ts';

/** What is read again as soon as something changes: cheap to read, and made of what a store's events tell. */
const FOLLOWING: ReadonlySet<unknown> = new Set([
  'list',
  'one',
  'events',
  'refunds',
  'balances',
  'approvals',
]);
const isFollowing = ({ queryKey: [name] }: { queryKey: QueryKey }) => FOLLOWING.has(name);
/** A refused stream, by a proxy or while the service starts, is no reason to follow nothing until the page is opened anew. */
const AGAIN_MS = 10_000;

/**
 * Reads again what is shown as soon as something of the store has changed. Pages that nobody looks at follow nothing, as
 * browsers open six connections to one service; they read again when they are looked at.
 */
export function useLiveUpdates({ merchant, store }: Place): void {
  const client = useQueryClient();
  useEffect(() => {
    const path = `/console/api/merchants/${merchant}/stores/${store}/changes`;
    const readAgain = () =>
      void client.invalidateQueries({ predicate: isFollowing }, { cancelRefetch: false });
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
      source.addEventListener('changed', readAgain);
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

import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Place } from './api.ts';

/** Who is signed in, and with which stores: no event of a store changes these. */
const OF_PERSON: readonly unknown[] = ['me', 'stores'];
/** What reads every row of a period: a busy store would have it read without end. */
const OF_PERIODS: readonly unknown[] = ['overview', 'statement'];
const isOfStore = ({ queryKey: [name] }: { queryKey: QueryKey }) =>
  !OF_PERSON.includes(name) && !OF_PERIODS.includes(name);

/**
 * Reads again what is shown as soon as something of the store has changed. Pages that nobody looks at follow nothing, as
 * browsers open six connections to one service; they read again when they are looked at.
 */
export function useLiveUpdates({ merchant, store }: Place): void {
  const client = useQueryClient();
  useEffect(() => {
    const path = `/console/api/merchants/${merchant}/stores/${store}/changes`;
    const readAgain = () => void client.invalidateQueries({ predicate: isOfStore }, { cancelRefetch: false });
    let source: EventSource | undefined;
    const follow = () => {
      source?.close();
      source = document.hidden ? undefined : new EventSource(path);
      source?.addEventListener('changed', readAgain);
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      source?.close();
    };
  }, [client, merchant, store]);
}

import type { QueryClient } from '@tanstack/react-query';

/**
 * Reads everything that the page shows again, after a change. `invalidateQueries` does not restart a query that waits for its
 * first answer. That answer may be older than the change, so such queries are invalidated once more when it is there.
 */
export async function readAgain(client: QueryClient): Promise<void> {
  const isOnItsWay = client.isFetching({ predicate: ({ state }) => state.data === undefined }) > 0;
  await client.invalidateQueries();
  if (isOnItsWay) await client.invalidateQueries();
}

import type { QueryClient } from '@tanstack/react-query';

/**
 * Reads everything that the page shows again, after a change. What is being read for the first time may be from before the
 * change, and the library does not ask for that again while it is on its way: it is asked for once more.
 */
export async function readAgain(client: QueryClient): Promise<void> {
  const isOnItsWay = client.isFetching({ predicate: ({ state }) => state.data === undefined }) > 0;
  await client.invalidateQueries();
  if (isOnItsWay) await client.invalidateQueries();
}

import { Button } from '@mantine/core';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Loads the next page of a list; nothing at its end. */
export const ShowMore = ({ pages }: { pages: Pages }) =>
  pages.hasNextPage && (
    <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      Show more
    </Button>
  );

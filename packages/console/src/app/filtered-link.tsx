import { Anchor } from '@mantine/core';
import { pathWith } from './api.ts';
import { usePlace } from './place.ts';
import { SECTIONS } from './sections.ts';

/** A list of the store with a filter. */
export function FilteredLink({ folder, filters }: { folder: string; filters: Record<string, string> }) {
  const { merchant, store } = usePlace();
  return (
    <Anchor href={pathWith(`/console/${merchant}/${store}/${folder}`, filters)}>
      {SECTIONS.find((section) => section.folder === folder)?.title}
    </Anchor>
  );
}

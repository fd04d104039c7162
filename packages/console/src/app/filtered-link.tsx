import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { pathWith } from './api.ts';
import { usePlace } from './place.ts';
import { SECTIONS } from './sections.ts';

interface FilteredLinkProps {
  folder: string;
  filters: Record<string, string>;
  /** The title of the list by default. */
  children?: ReactNode;
}

/** A list of the store with a filter. */
export function FilteredLink({ folder, filters, children }: FilteredLinkProps) {
  const { merchant, store } = usePlace();
  return (
    <Anchor inherit underline="always" href={pathWith(`/console/${merchant}/${store}/${folder}`, filters)}>
      {children ?? SECTIONS.find((section) => section.folder === folder)?.title}
    </Anchor>
  );
}

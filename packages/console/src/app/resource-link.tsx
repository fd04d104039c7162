import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePlace } from './place.ts';

interface ResourceLinkProps {
  folder: string;
  id: string;
  /** The id by default. */
  children?: ReactNode;
}

/** The page of something else of the store. */
export function ResourceLink({ folder, id, children = id }: ResourceLinkProps) {
  const { merchant, store } = usePlace();
  return (
    <Anchor
      component={Link}
      className="id"
      inherit
      underline="always"
      to={`/${merchant}/${store}/${folder}/${encodeURIComponent(id)}`}
    >
      {children}
    </Anchor>
  );
}

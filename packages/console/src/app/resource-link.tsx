import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { usePlace } from './place.ts';

/** The page of something else of the store. */
export function ResourceLink({ folder, id }: { folder: string; id: string }) {
  const { merchant, store } = usePlace();
  return (
    <Anchor
      component={Link}
      className="id"
      inherit
      underline="always"
      to={`/${merchant}/${store}/${folder}/${encodeURIComponent(id)}`}
    >
      {id}
    </Anchor>
  );
}

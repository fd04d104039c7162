import { Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api.ts';
import { usePlace } from '../place.ts';
import { storesQuery } from '../session.ts';
import { Trouble } from '../trouble.tsx';

interface Key {
  key_id: string;
  store_id: string;
  name: string;
}

/** The keys that somebody still knows when they have gone. */
export function KeysOfUser({ userId }: { userId: string }) {
  const { merchant } = usePlace();
  const stores = useQuery(storesQuery(merchant));
  const keys = useQuery({
    queryKey: ['keys-of-user', merchant, userId],
    queryFn: ({ signal }) =>
      call<{ data: Key[] }>(`/console/api/merchants/${merchant}/users/${userId}/keys`, { signal }),
  });
  if (keys.error !== null) return <Trouble error={keys.error} />;
  if (keys.data === undefined) return <Skeleton height={40} aria-label="Loading" />;
  if (keys.data.data.length === 0)
    return <Text size="sm">They were shown the secret of no active API key.</Text>;
  return (
    <Stack gap={4}>
      <Text fw={600}>They know secrets of these API keys: rotate them</Text>
      <ul>
        {keys.data.data.map(({ key_id, store_id, name }) => (
          <li key={key_id}>
            <Anchor underline="always" component={Link} to={`/${merchant}/${store_id}/keys`}>
              {name}
            </Anchor>
            , {stores.data?.find((store) => store.store_id === store_id)?.name ?? store_id}
          </li>
        ))}
      </ul>
    </Stack>
  );
}

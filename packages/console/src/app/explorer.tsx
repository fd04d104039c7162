import { Anchor, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from './api.ts';
import { type Explorer, explorerUrl } from './explorer-url.ts';
import { CopyId } from './format.tsx';
import { usePlace } from './place.ts';

interface OnChainProps {
  network: string | null;
  kind: 'transaction' | 'address';
  id: string;
  isShort?: boolean;
}

/** A transaction or an address, with where it can be looked up, if the network's explorer is known. */
export function OnChain({ network, kind, id, isShort = false }: OnChainProps) {
  const { merchant } = usePlace();
  const { data } = useQuery({
    queryKey: ['explorers', merchant],
    queryFn: ({ signal }) =>
      call<{ data: Explorer[] }>(`/console/api/merchants/${merchant}/explorers`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const url = explorerUrl(data?.data ?? [], { network, kind, id });
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      <CopyId id={id} isShort={isShort} />
      {url !== undefined && (
        <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm">
          Explorer
        </Anchor>
      )}
    </Group>
  );
}

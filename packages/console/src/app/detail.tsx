import { Anchor, Button, Group, Modal, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call, change } from './api.ts';
import { CopyId, Maybe } from './format.tsx';
import { useId, usePlace } from './place.ts';
import { readAgain } from './read-again.ts';
import { Trouble } from './trouble.tsx';

const REFRESH_MS = 5_000;

interface DetailProps<T> {
  /** Of the list that it is part of. */
  list: { title: string; folder: string };
  path: (id: string) => string;
  title: (one: T) => ReactNode;
  /** What never changes is read once. */
  isFinal?: boolean;
  /** Changes that the person may make now. */
  actions?: (one: T) => ReactNode;
  children: (one: T) => ReactNode;
}

/** One resource, read again while its page is open. */
export function Detail<T>({ list, path, title, isFinal = false, actions, children }: DetailProps<T>) {
  const place = usePlace();
  const id = useId();
  const query = useQuery({
    queryKey: ['one', place, path(id)],
    queryFn: ({ signal }) => call<T>(path(id), { place, signal }),
    refetchInterval: isFinal ? false : REFRESH_MS,
  });
  return (
    <Stack>
      <Anchor component={Link} to={`/${place.merchant}/${place.store}/${list.folder}`} size="sm">
        ← {list.title}
      </Anchor>
      {query.error !== null && query.data === undefined && (
        <Title order={1} size="h2">
          {list.title}
        </Title>
      )}
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {query.data !== undefined && (
        <>
          <Group justify="space-between">
            <Stack gap={4}>
              <Title order={1} size="h2">
                {title(query.data)}
              </Title>
              <CopyId id={id} />
            </Stack>
            <Group gap="xs">{actions?.(query.data)}</Group>
          </Group>
          {children(query.data)}
        </>
      )}
    </Stack>
  );
}

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack component="section" gap="xs" aria-label={title}>
    <Title order={2} size="h4">
      {title}
    </Title>
    {children}
  </Stack>
);

/** Names and values of a resource. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name} style={{ display: 'contents' }}>
        <dt>{name}</dt>
        <dd>
          <Maybe>{value}</Maybe>
        </dd>
      </div>
    ))}
  </dl>
);

/** A request that changes something. */
export interface Sent {
  path: string;
  body?: object;
  method?: 'POST' | 'PUT' | 'DELETE';
  idempotencyKey?: string;
}

/**
 * A change of what the page shows: afterwards everything on it is read again.
 *
 * @param send undefined where nothing is left to send
 */
export function useChange<Input>(send: (input: Input) => Sent | Promise<Sent | undefined>) {
  const place = usePlace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) => {
      const sent = await send(input);
      if (sent === undefined) return undefined;
      const { path, ...options } = sent;
      return await change<unknown>(path, { place, ...options });
    },
    onSettled: () => readAgain(client),
    // Answers may hold secrets: they are kept nowhere.
    gcTime: 0,
  });
}

interface ActionProps {
  label: string;
  /** Asked before it is done. */
  question: string;
  path: string;
  /** What is made once the person has said yes, such as the answer of a passkey, is a function. */
  body?: object | (() => Promise<object>);
  method?: 'POST' | 'PUT' | 'DELETE';
  isDangerous?: boolean;
}

/** A button that changes what the page shows, once it was asked about. */
export function Action({ label, question, isDangerous = false, body, ...sent }: ActionProps) {
  const { mutate, isPending, error, reset } = useChange<void>(async () => ({
    ...sent,
    ...(body === undefined ? {} : { body: typeof body === 'function' ? await body() : body }),
  }));
  const [isAsked, setAsked] = useState(false);
  const close = () => {
    setAsked(false);
    reset();
  };
  return (
    <>
      <Button variant={isDangerous ? 'default' : 'filled'} onClick={() => setAsked(true)}>
        {label}
      </Button>
      <Modal opened={isAsked} onClose={close} title={label} lockScroll={false}>
        <Stack>
          <Text>{question}</Text>
          {error !== null && <Trouble error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button
              {...(isDangerous ? { color: 'red.8' } : {})}
              loading={isPending}
              onClick={() => mutate(undefined, { onSuccess: close })}
              data-autofocus
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

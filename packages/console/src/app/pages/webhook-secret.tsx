import { Group, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api.ts';
import { Action, Facts, Section } from '../detail.tsx';
import { textOf } from '../form.ts';
import { FormDialog } from '../form-dialog.tsx';
import { CopyId, IsoTime } from '../format.tsx';
import { OVERLAPS } from '../overlaps.ts';
import { usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';

interface WebhookKey {
  key_id: string | null;
  signing_key_id: string | null;
  is_old_secret: boolean;
  old_secret_until: string | null;
}

interface Key {
  key_id: string;
  name: string;
  status: 'active' | 'expired' | 'revoked';
}

const REFRESH_MS = 30_000;

function NameKey({ path, named, keys }: { path: string; named: string | null; keys: readonly Key[] }) {
  const choices = keys.filter(({ status, key_id }) => status === 'active' && key_id !== named);
  if (choices.length === 0) return null;
  return (
    <FormDialog
      label="Sign with another key"
      submit="Name this key"
      names={['key_id', 'overlap']}
      fields={(errorOf) => (
        <>
          <Text size="sm">
            Until the overlap ends, webhooks are signed as now. Give your receiver the secret of the other key
            before, so that it verifies both.
          </Text>
          <NativeSelect
            name="key_id"
            label="Key"
            data={choices.map(({ key_id, name }) => ({ value: key_id, label: name }))}
            error={errorOf('key_id')}
          />
          <NativeSelect
            name="overlap"
            label="The present secret signs for"
            data={OVERLAPS}
            error={errorOf('overlap')}
          />
        </>
      )}
      send={(fields) => ({
        path,
        method: 'PUT',
        body: {
          key_id: textOf(fields, 'key_id'),
          overlap: Number(textOf(fields, 'overlap')),
          seen_key_id: named,
        },
      })}
    />
  );
}

/** Whose secret signs the webhooks of the store; it is rotated with its key. */
export function WebhookSecret() {
  const place = usePlace();
  const store = `/console/api/merchants/${place.merchant}/stores/${place.store}`;
  const path = `${store}/webhook-key`;
  const signing = useQuery({
    queryKey: ['webhook-key', place],
    queryFn: ({ signal }) => call<WebhookKey>(path, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const keys = useQuery({
    queryKey: ['keys', place],
    queryFn: ({ signal }) => call<{ data: Key[]; givable_scopes: string[] }>(`${store}/api-keys`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const error = signing.error ?? keys.error;
  const failure = error !== null && <Trouble error={error} />;
  if (signing.data === undefined || keys.data === undefined) return failure;
  const { key_id, signing_key_id, is_old_secret, old_secret_until } = signing.data;
  const all = keys.data.data;
  const shown = (id: string) => (
    <>
      {all.find((one) => one.key_id === id)?.name} <CopyId id={id} isShort />
    </>
  );
  return (
    <Section title="Signing secret">
      {failure}
      {key_id === null ? (
        <Text>No key signs webhooks yet: the first API key of the store does.</Text>
      ) : (
        <Facts
          facts={[
            ['Secret of', shown(key_id)],
            ...(old_secret_until === null || signing_key_id === null
              ? []
              : [
                  [
                    'Until the overlap ends',
                    <>
                      {is_old_secret ? 'the secret from before the last rotation of ' : 'the secret of '}
                      {shown(signing_key_id)} signs, until <IsoTime at={old_secret_until} />
                    </>,
                  ] as const,
                ]),
          ]}
        />
      )}
      <Group gap="xs">
        <Link to={`/${place.merchant}/${place.store}/keys`}>
          {key_id === null ? 'Make a key' : 'Rotate it with its key'}
        </Link>
        {old_secret_until !== null && (
          <Action
            key={`${key_id} ${old_secret_until}`}
            label="End the overlap"
            question="Does your receiver verify the newest secret? It signs from now on, and the one before signs no more."
            path={`${path}/confirm`}
            body={{ seen_key_id: key_id, seen_until: old_secret_until }}
          />
        )}
        <NameKey path={path} named={key_id} keys={all} />
      </Group>
    </Section>
  );
}

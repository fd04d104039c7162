import {
  Button,
  Code,
  CopyButton,
  Group,
  NativeSelect,
  Paper,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.ts';
import { Choices } from '../choices.tsx';
import { Action, Facts } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { textOf } from '../form.ts';
import { type ErrorOf, FormDialog } from '../form-dialog.tsx';
import { CopyId, IsoTime, Status } from '../format.tsx';
import { type Column, Empty, Rows } from '../list.tsx';
import { OVERLAPS } from '../overlaps.ts';
import { usePlace } from '../place.ts';
import { storesQuery } from '../session.ts';
import { Trouble } from '../trouble.tsx';
import { useUnsaved } from '../unsaved.ts';

interface Key {
  key_id: string;
  name: string;
  api_key: string;
  scopes: string[];
  status: 'active' | 'expired' | 'revoked';
  expires_at: string | null;
  created_at: string;
  last_used_at: string | null;
  old_secret_until: string | null;
  signs_webhooks: boolean;
}

/** What is shown once, and kept nowhere. */
interface Secrets {
  key_id: string;
  /** Of a new key. */
  api_key?: string;
  secret_key: string;
  old_secret_until?: string | null;
}

const SCOPES = [
  ['read', 'Read all that the API shows of the store.'],
  ['write', 'Sessions, payment links, customers, subscriptions, webhook endpoints.'],
  ['payouts', 'Create and submit payouts: money leaves.'],
  ['refunds', 'Create refunds: money leaves.'],
] as const;

function SecretOnce({ secrets, close }: { secrets: Secrets; close: () => void }) {
  useUnsaved(() => true, 'Leave this? The secret key is not shown again.');
  const { api_key, secret_key, old_secret_until } = secrets;
  const lines = [
    `FLORIN_BASE_URL=${location.origin}`,
    ...(api_key === undefined ? [] : [`FLORIN_API_KEY=${api_key}`]),
    `FLORIN_SECRET_KEY=${secret_key}`,
  ].join('\n');
  return (
    <Paper withBorder p="md" role="status">
      <Stack gap="sm">
        <Text fw={600}>Keep the secret key now: it is not shown again</Text>
        <Text size="sm">
          Whoever has both keys can do whatever this key may. They belong in your server's own secrets, never
          in a browser, an app or a repository.
        </Text>
        {old_secret_until && (
          <Text size="sm">
            The old secret is good until <IsoTime at={old_secret_until} />.
          </Text>
        )}
        <Facts
          facts={[
            ...(api_key === undefined ? [] : [['API key', <CopyId key="api" id={api_key} />] as const]),
            ['Secret key', <CopyId key="secret" id={secret_key} />],
          ]}
        />
        <Text size="sm">As the SDK and the command line read them:</Text>
        <Code block className="curl">
          {lines}
        </Code>
        <Group>
          <Button onClick={close}>I have kept it</Button>
          <CopyButton value={lines}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy these lines'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Paper>
  );
}

interface Acting {
  path: string;
  /** The scopes that the person may give. */
  givable: readonly string[];
  show: (secrets: Secrets) => void;
}

const ScopeChoices = ({ errorOf, givable }: { errorOf: ErrorOf; givable: readonly string[] }) => (
  <Choices name="scopes" legend="Scopes" wrong={errorOf('scopes')}>
    {SCOPES.map(([scope, text]) => (
      <label key={scope}>
        <input
          type="checkbox"
          name="scopes"
          value={scope}
          defaultChecked={givable.includes(scope) && (scope === 'read' || scope === 'write')}
          disabled={!givable.includes(scope)}
        />{' '}
        <Code>{scope}</Code> {text} {!givable.includes(scope) && 'Your role does not permit this.'}
      </label>
    ))}
  </Choices>
);

const NewKey = ({ path, givable, show }: Acting) => (
  <FormDialog
    label="New key"
    submit="Create"
    isMain
    names={['name', 'scopes', 'validity_days']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="name"
          label="Name"
          placeholder="Web server"
          error={errorOf('name')}
          autoComplete="off"
          required
          data-autofocus
        />
        <ScopeChoices errorOf={errorOf} givable={givable} />
        <TextInput
          name="validity_days"
          type="number"
          min={0}
          max={36_500}
          label="Days until it expires (0: never)"
          defaultValue="0"
          error={errorOf('validity_days')}
          required
        />
        <Text size="sm">
          What this key creates, edits or submits you do not approve, as you are shown its secret.
        </Text>
      </>
    )}
    send={(fields) => ({
      path,
      body: {
        name: textOf(fields, 'name'),
        scopes: fields.getAll('scopes'),
        validity_days: Number(textOf(fields, 'validity_days')),
      },
    })}
    done={(answer) => show(answer as Secrets)}
  />
);

const Rotate = ({ one, path, show }: { one: Key; path: string; show: (secrets: Secrets) => void }) => (
  <FormDialog
    label="Rotate"
    submit="Make a new secret"
    names={['overlap']}
    fields={(errorOf) => (
      <>
        <Text size="sm">
          <strong>{one.name}</strong> gets a new secret key; its API key stays. Until the overlap ends both
          secrets are good, so that your servers can change over.
        </Text>
        <NativeSelect
          name="overlap"
          label="The old secret is good for"
          data={OVERLAPS}
          error={errorOf('overlap')}
        />
        {one.old_secret_until !== null && (
          <Text size="sm" c="var(--bad)">
            The secret from before the last rotation is good until <IsoTime at={one.old_secret_until} />.
            Rotating again ends it at once.
          </Text>
        )}
        {one.signs_webhooks && (
          <Text size="sm">
            Its secret signs the webhooks of the store: they are signed with the old one until the overlap
            ends.
          </Text>
        )}
      </>
    )}
    send={(fields) => ({
      path: `${path}/rotate`,
      body: { overlap: Number(textOf(fields, 'overlap')) },
    })}
    done={(answer) => show(answer as Secrets)}
  />
);

function Changes({ one, path, givable, show }: Acting & { one: Key }) {
  if (one.status === 'revoked') return null;
  const own = `${path}/${one.key_id}`;
  return (
    <Group gap="xs">
      {one.status === 'active' && one.scopes.every((scope) => givable.includes(scope)) && (
        <Rotate one={one} path={own} show={show} />
      )}
      <Action
        label="Revoke"
        question={`Revoke ${one.name}? Requests with it are refused from now on, and nothing brings it back.`}
        path={own}
        method="DELETE"
        isDangerous
      />
    </Group>
  );
}

const columnsFor = (acting: Acting): Column<Key>[] => [
  {
    title: 'Name',
    cell: ({ name, signs_webhooks }) => (
      <>
        {name}
        {signs_webhooks && (
          <Text size="xs" c="var(--plain)">
            signs webhooks
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ status, old_secret_until }) => (
      <>
        <Status name={status} />
        {status === 'active' && old_secret_until !== null && (
          <Text size="xs" c="var(--plain)">
            old secret until <IsoTime at={old_secret_until} />
          </Text>
        )}
      </>
    ),
  },
  { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  {
    title: 'API key',
    cell: ({ api_key, key_id }) => (
      <>
        <Code>{api_key}</Code> <CopyId id={key_id} isShort />
      </>
    ),
  },
  { title: 'Created', cell: ({ created_at }) => <IsoTime at={created_at} /> },
  {
    title: 'Expires',
    cell: ({ expires_at }) => (expires_at === null ? 'never' : <IsoTime at={expires_at} />),
  },
  {
    title: 'Last used',
    cell: ({ last_used_at, key_id }) => (
      <>
        <IsoTime at={last_used_at} />{' '}
        {last_used_at !== null && <FilteredLink folder="requests" filters={{ key_id }} />}
      </>
    ),
  },
  { title: 'Changes', cell: (one) => <Changes one={one} {...acting} /> },
];

const EMPTY = {
  text: 'No keys yet: your server signs its requests with one. Make it here, or so:',
  command: 'npx florin keys create store_… --name "Web server"',
};

/** Why the service would make no key for the store; undefined where it makes one. */
function useNoKeysBecause(): string | undefined {
  const { merchant, store } = usePlace();
  const own = useQuery(storesQuery(merchant)).data?.find(({ store_id }) => store_id === store);
  if (own === undefined) return undefined;
  if (own.channel_type !== 'api')
    return 'This store is for hosted pages alone, so it has no keys. For a server of yours, ask for a store with the channel API.';
  if (own.review_status !== 'approved') return 'This store has no keys before the operator has approved it.';
  return own.is_enabled ? undefined : 'This store is not enabled, so no key is made for it.';
}

/** The API keys of the store. */
export function KeysPage() {
  const place = usePlace();
  const path = `/console/api/merchants/${place.merchant}/stores/${place.store}/api-keys`;
  const keys = useQuery({
    queryKey: ['keys', place],
    queryFn: ({ signal }) => call<{ data: Key[]; givable_scopes: string[] }>(path, { signal }),
    refetchInterval: 30_000,
  });
  const [secrets, show] = useState<Secrets>();
  const [isAll, setAll] = useState(false);
  const because = useNoKeysBecause();
  const givable = keys.data?.givable_scopes ?? [];
  const all = keys.data?.data ?? [];
  const active = all.filter(({ status }) => status === 'active');
  const rows = isAll ? all : active;
  const definition = {
    title: 'API keys',
    columns: columnsFor({ path, givable, show }),
    idOf: ({ key_id }: Key) => key_id,
  };
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          API keys
        </Title>
        <Group gap="xs">
          {all.length > active.length && (
            <Button variant="default" onClick={() => setAll(!isAll)}>
              {isAll ? 'Hide ended keys' : 'Show ended keys'}
            </Button>
          )}
          {keys.isSuccess && because === undefined && <NewKey path={path} givable={givable} show={show} />}
        </Group>
      </Group>
      {because !== undefined && <Text>{because}</Text>}
      {secrets !== undefined && <SecretOnce secrets={secrets} close={() => show(undefined)} />}
      {keys.error !== null && <Trouble error={keys.error} retry={() => void keys.refetch()} />}
      {keys.isPending && <Skeleton height={240} aria-label="Loading" />}
      {keys.isSuccess && rows.length === 0 && because === undefined && <Empty empty={EMPTY} />}
      {rows.length > 0 && <Rows definition={definition} rows={rows} place={place} />}
    </Stack>
  );
}

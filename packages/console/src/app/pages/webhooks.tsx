import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import type { WebhookEndpoint } from '@florin/contract/schemas';
import { Code, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { EditDialog } from '../edit-dialog.tsx';
import { textOf, type Values } from '../form.ts';
import { type ErrorOf, FormDialog } from '../form-dialog.tsx';
import { CopyId, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { useMay } from '../place.ts';
import { NewestDeliveries } from './deliveries.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

const PATH = '/api/v1/webhook_endpoints';

const ENDPOINTS: ListDefinition<WebhookEndpoint> = {
  title: 'Webhooks',
  path: PATH,
  folder: 'webhooks',
  idOf: ({ id }) => id,
  columns: [
    { title: 'URL', cell: ({ url }) => url },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Events', cell: ({ types }) => types.join(', ') },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [],
  empty: {
    text: 'No endpoints yet: events are sent nowhere. Make one here, or so:',
    command: 'npx florin endpoints create https://shop.example/webhooks',
  },
};

const CHOICES = Object.entries(EVENT_CATALOGUE).filter(
  ([type, { built }]) => built && type !== 'webhook_endpoint.test',
);

const LABELS = { url: 'URL', types: 'Events' };
type EndpointValues = Values<keyof typeof LABELS>;
const FIRST: EndpointValues = { url: '', types: '*' };

function Fields({ values = FIRST, errorOf }: { values?: EndpointValues; errorOf: ErrorOf }) {
  const chosen = values.types.split(' ');
  const wrongTypes = errorOf('types');
  const choice = (type: string, text: string) => (
    <label key={type}>
      <input type="checkbox" name="types" value={type} defaultChecked={chosen.includes(type)} />{' '}
      <Code>{type}</Code> {text}
    </label>
  );
  return (
    <>
      <TextInput
        name="url"
        label="URL"
        placeholder="https://shop.example/webhooks"
        defaultValue={values.url}
        error={errorOf('url')}
        autoComplete="off"
        required
        data-autofocus
      />
      <fieldset className="choices" aria-describedby={wrongTypes && 'wrong-types'}>
        <legend>Events</legend>
        {choice('*', 'Every type that the specification names; tick others by their name.')}
        {CHOICES.map(([type, { change }]) => choice(type, change))}
      </fieldset>
      {wrongTypes !== undefined && (
        <Text id="wrong-types" size="sm" c="var(--bad)">
          {wrongTypes}
        </Text>
      )}
    </>
  );
}

const valuesOf = ({ url, types }: Pick<WebhookEndpoint, 'url' | 'types'>): EndpointValues => ({
  url,
  types: types.join(' '),
});
const typedIn = (fields: FormData): EndpointValues => ({
  url: textOf(fields, 'url').trim(),
  types: fields.getAll('types').map(String).join(' '),
});
const inputOf = ({ url, types }: EndpointValues) => ({
  url,
  types: types === '' ? [] : types.split(' '),
});

const NewEndpoint = () => (
  <FormDialog
    label="New endpoint"
    submit="Create"
    isMain
    names={Object.keys(LABELS)}
    fields={(errorOf) => <Fields errorOf={errorOf} />}
    send={(fields) => ({ path: PATH, body: inputOf(typedIn(fields)) })}
  />
);

export function WebhooksPage() {
  const mayEdit = useMay('edit_keys');
  return (
    <Stack gap="xl">
      <List definition={ENDPOINTS} actions={mayEdit && <NewEndpoint />} />
      {mayEdit && <WebhookSecret />}
    </Stack>
  );
}

const Resend = ({ path }: { path: string }) => (
  <FormDialog
    label="Send missed"
    submit="Send"
    names={['since', 'which']}
    fields={(errorOf) => (
      <>
        <NativeSelect
          name="which"
          label="What"
          error={errorOf('which')}
          data={[
            { value: 'failed', label: 'deliveries that failed' },
            { value: 'missing', label: 'events that were never sent there' },
          ]}
        />
        <TextInput type="datetime-local" name="since" label="Since" error={errorOf('since')} required />
      </>
    )}
    send={(fields) => ({
      path: `${path}/redeliver`,
      body: {
        which: textOf(fields, 'which'),
        since: Math.floor(new Date(textOf(fields, 'since')).getTime() / 1000),
      },
    })}
  />
);

function Actions({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (!useMay('edit_keys')) return null;
  const path = `${PATH}/${endpoint.id}`;
  const isEnabled = endpoint.status === 'enabled';
  return (
    <>
      {isEnabled && (
        <Action
          label="Send test event"
          question={`Send a test event to ${endpoint.url}?`}
          path={`${path}/test`}
        />
      )}
      {isEnabled && <Resend path={path} />}
      <EditDialog
        label="Change"
        subject={endpoint}
        path={path}
        labels={LABELS}
        valuesOf={valuesOf}
        typedIn={typedIn}
        fields={(errorOf, values) => <Fields values={values} errorOf={errorOf} />}
        send={(typed) => ({ path: `${path}/update`, body: inputOf(typed) })}
      />
      {isEnabled ? (
        <Action
          label="Disable"
          question="Send nothing there any more? What is pending waits until it is enabled again."
          path={`${path}/update`}
          body={{ status: 'disabled' }}
          isDangerous
        />
      ) : (
        <Action
          label="Enable"
          question="Send events there again? What waited is sent at once."
          path={`${path}/update`}
          body={{ status: 'enabled' }}
        />
      )}
    </>
  );
}

const factsOf = (endpoint: WebhookEndpoint) =>
  [
    ['Status', <Status key="status" name={endpoint.status} />],
    ['Disabled because', endpoint.disabled_reason && wordsOf(endpoint.disabled_reason)],
    ['Events', endpoint.types.join(', ')],
    ['Created', <Time key="created" at={endpoint.created} />],
  ] as const;

export const WebhookPage = () => (
  <Detail<WebhookEndpoint>
    list={{ title: 'Webhooks', folder: 'webhooks' }}
    path={(id) => `${PATH}/${encodeURIComponent(id)}`}
    title={({ url }) => url}
    actions={(endpoint) => <Actions endpoint={endpoint} />}
  >
    {(endpoint) => (
      <>
        <Facts facts={factsOf(endpoint)} />
        <Section title="Newest deliveries">
          <NewestDeliveries filters={{ endpoint_id: endpoint.id }} empty="Nothing was sent there yet." />
        </Section>
      </>
    )}
  </Detail>
);

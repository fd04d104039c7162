import { Code, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Facts, Section } from '../../detail.tsx';
import { CopyId, IsoTime, NETWORK_NAMES, Status, settingText } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { useMay, usePlace } from '../../place.ts';
import { storeStatus } from '../../session.ts';
import { Trouble } from '../../trouble.tsx';
import { supportText, useStore, type WholeStore } from './read-store.ts';

/** What the state of a store means, and what its merchant does about it. */
const MEANINGS: Record<string, string> = {
  pending:
    'Whoever runs this installation reviews it. Until then no key can be made for it and its pages are closed.',
  enabled: 'It takes requests and payments.',
  disabled:
    'Whoever runs this installation has disabled it: its requests and pages are refused. Ask them to enable it.',
  rejected:
    'Whoever runs this installation has rejected it: its requests and pages are refused. Ask them why, or ask for another store.',
};

const CHANNELS: Record<string, string> = {
  api: 'api: your server calls the API',
  hosted: 'hosted: payment links and pages alone',
};

type Rule = WholeStore['rules'][number];
const RULE_COLUMNS: readonly Column<Rule>[] = [
  {
    title: 'Rule',
    cell: ({ name, description }) => (
      <>
        <Text size="sm">{description}</Text>
        <Code className="id">{name}</Code>
      </>
    ),
  },
  { title: 'Value', cell: ({ value }) => settingText(value) },
];

const Methods = ({ store }: { store: WholeStore }) =>
  store.payment_methods.length === 0 ? (
    <Text>None: this installation has no node for any network that the store offers.</Text>
  ) : (
    <ul>
      {store.payment_methods.map(({ token, network }) => (
        <li key={`${token}:${network}`}>
          {token} on {NETWORK_NAMES[network] ?? network}
        </li>
      ))}
    </ul>
  );

function Whole({ store }: { store: WholeStore }) {
  const place = usePlace();
  const to = (folder: string) => `/${place.merchant}/${place.store}/${folder}`;
  const readsLog = useMay('read_audit_log');
  return (
    <>
      <Facts
        facts={[
          ['Name', store.name],
          ['Status', <Status key="status" name={storeStatus(store)} />],
          ['What that means', MEANINGS[storeStatus(store)]],
          ['Channel', CHANNELS[store.channel_type] ?? store.channel_type],
          ['Created', <IsoTime key="created" at={store.created_at} />],
          ['Id', <CopyId key="id" id={store.store_id} />],
        ]}
      />
      <Text size="sm">The channel was chosen when the store was asked for, and was reviewed with it.</Text>
      <Section title="What payers see">
        <Facts
          facts={[
            ['Support', supportText(store.support)],
            ['Terms', store.terms],
            ['Colour', store.accent],
            ['Logo', store.logo_id === null ? 'the first letter of the name' : 'your own'],
          ]}
        />
        <Link to={to('branding')}>Change the name and what payers see</Link>
        {readsLog && (
          <Link to={to('audit')} search={{ action: 'changeBrand' }}>
            Who changed it
          </Link>
        )}
      </Section>
      <Section title="How payers may pay">
        <Methods store={store} />
      </Section>
      <Section title="Webhooks and keys">
        <Link to={to('webhooks')}>Webhook endpoints and their signing secret</Link>
        <Link to={to('keys')}>API keys</Link>
      </Section>
      <Section title="Rules">
        <Text size="sm">
          They hold for all stores of this merchant, and whoever runs this installation changes them. Amounts
          are in tokens.
        </Text>
        <Rows
          definition={{ title: 'Rules', columns: RULE_COLUMNS, idOf: ({ name }) => name }}
          rows={store.rules}
          place={place}
        />
      </Section>
    </>
  );
}

/** What holds for a store: its review, what payers see, how they may pay, and the rules of its money. */
export function StoreSettingsPage() {
  const query = useStore();
  return (
    <Stack>
      <Title order={1} size="h2">
        Store settings
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {query.data !== undefined && <Whole store={query.data} />}
    </Stack>
  );
}

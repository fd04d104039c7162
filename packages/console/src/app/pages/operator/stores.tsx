import { Group, Text } from '@mantine/core';
import { Action } from '../../detail.tsx';
import { CopyId, IsoTime, Status } from '../../format.tsx';
import type { Column } from '../../list.tsx';
import type { Store } from '../../me.ts';
import { useFilters } from '../../place.ts';
import { storeStatus } from '../../session.ts';
import { WholeList } from '../../whole-list.tsx';
import { OPERATOR, useOperates } from './place.ts';
import { StatusFilter } from './status-filter.tsx';

interface AnyStore extends Store {
  merchant: { merchant_id: string; name: string; mode: string; status: string };
}

function Decisions({ store }: { store: AnyStore }) {
  const { review_status, is_open, name } = store;
  const path = `${OPERATOR}/merchants/${store.merchant.merchant_id}/stores/${store.store_id}`;
  const seen = { review_status, is_open };
  const decide = (label: string, question: string, change: object, isDangerous = false) => (
    <Action
      label={label}
      question={question}
      path={path}
      method="PUT"
      body={{ ...change, seen }}
      isDangerous={isDangerous}
    />
  );
  return (
    <Group gap="xs">
      {review_status !== 'approved' &&
        decide('Approve', `Approve ${name} of ${store.merchant.name}, and enable it?`, {
          review_status: 'approved',
          is_open: true,
        })}
      {review_status === 'approved' &&
        (is_open
          ? decide(
              'Disable',
              `Disable ${name}? Its requests and pages are refused at once.`,
              { is_open: false },
              true,
            )
          : decide('Enable', `Enable ${name}?`, { is_open: true }))}
      {review_status !== 'rejected' &&
        decide(
          'Reject',
          `Reject ${name}? Its requests and pages are refused at once.`,
          { review_status: 'rejected', is_open: false },
          true,
        )}
    </Group>
  );
}

const SEEN: readonly Column<AnyStore>[] = [
  {
    title: 'Store',
    cell: ({ name, store_id }) => (
      <>
        {name} <CopyId id={store_id} isShort />
      </>
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchant }) => (
      <>
        {merchant.name}
        <Text size="xs" c="var(--plain)">
          {merchant.mode}
          {merchant.status === 'active' ? '' : `, ${merchant.status}`}
        </Text>
      </>
    ),
  },
  { title: 'Status', cell: (store) => <Status name={storeStatus(store)} /> },
  { title: 'Channel', cell: ({ channel_type }) => channel_type },
  { title: 'Created', cell: ({ created_at }) => <IsoTime at={created_at} /> },
];
const DECIDED: Column<AnyStore> = { title: 'Decide', cell: (store) => <Decisions store={store} /> };

/** The stores of all merchants. Operators approve, reject, enable and disable them. */
export function AllStoresPage() {
  const operates = useOperates();
  const { status = '' } = useFilters();
  return (
    <WholeList<AnyStore>
      title="Stores"
      path={`${OPERATOR}/stores`}
      idOf={({ store_id }) => store_id}
      columns={operates ? [...SEEN, DECIDED] : SEEN}
      filters={status === '' ? undefined : { status }}
      actions={<StatusFilter options={['pending', 'enabled', 'disabled', 'rejected']} />}
      empty={status === '' ? 'No merchant has a store yet.' : 'No store has this status.'}
    />
  );
}

import { Link } from '@tanstack/react-router';
import { Action } from '../../detail.tsx';
import { CopyId, IsoTime, Status } from '../../format.tsx';
import type { Column } from '../../list.tsx';
import { WholeList } from '../../whole-list.tsx';
import { OPERATOR, useOperates } from './place.ts';

interface Merchant {
  merchant_id: string;
  name: string;
  mode: 'sandbox' | 'live';
  status: 'active' | 'suspended';
  created_at: string;
}

const SEEN: readonly Column<Merchant>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Mode', cell: ({ mode }) => <Status name={mode} /> },
  { title: 'Status', cell: ({ status }) => <Status name={status} /> },
  { title: 'Created', cell: ({ created_at }) => <IsoTime at={created_at} /> },
  { title: 'Id', cell: ({ merchant_id }) => <CopyId id={merchant_id} isShort /> },
  {
    title: 'Money',
    cell: ({ merchant_id, name }) => (
      <Link to={`/operator/merchants/${merchant_id}`} aria-label={`Statement of ${name}`}>
        Statement
      </Link>
    ),
  },
];

const CHANGED: Column<Merchant> = {
  title: 'Changes',
  cell: ({ merchant_id, name, status }) => (
    <Action
      label={status === 'active' ? 'Suspend' : 'Resume'}
      question={
        status === 'active'
          ? `Suspend ${name}? Its requests are refused and nothing new begins; what has begun goes on.`
          : `Resume ${name}? Its deadlines move by the time that it was suspended.`
      }
      path={`${OPERATOR}/merchants/${merchant_id}`}
      method="PUT"
      body={{ status: status === 'active' ? 'suspended' : 'active' }}
      isDangerous={status === 'active'}
    />
  ),
};

/** Every merchant of the installation. */
export function MerchantsPage() {
  const operates = useOperates();
  return (
    <WholeList
      title="Merchants"
      path={`${OPERATOR}/merchants`}
      idOf={({ merchant_id }) => merchant_id}
      columns={operates ? [...SEEN, CHANGED] : SEEN}
      empty={{
        text: 'No merchant yet. Whoever has the database makes one:',
        command: 'npx florin merchants create --name "Shop"',
      }}
    />
  );
}

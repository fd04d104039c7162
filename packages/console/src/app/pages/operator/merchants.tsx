import { Alert, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Action } from '../../detail.tsx';
import { emailOf, textOf } from '../../form.ts';
import { type ErrorOf, FormDialog } from '../../form-dialog.tsx';
import { CopyId, IsoTime, Status } from '../../format.tsx';
import { type Invited, InvitedBy, invitedOf } from '../../invitation.tsx';
import type { Column } from '../../list.tsx';
import { WholeList } from '../../whole-list.tsx';
import { OPERATOR, useOperates } from './place.ts';

interface Merchant {
  merchant_id: string;
  name: string;
  mode: 'sandbox' | 'live';
  status: 'active' | 'suspended';
  created_at: string;
  has_owner: boolean;
}

const SEEN: readonly Column<Merchant>[] = [
  {
    title: 'Name',
    cell: ({ merchant_id, name }) => (
      <Link to="/" search={{ merchant: merchant_id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Mode', cell: ({ mode }) => <Status name={mode} /> },
  { title: 'Status', cell: ({ status }) => <Status name={status} /> },
  { title: 'Created', cell: ({ created_at }) => <IsoTime at={created_at} /> },
  { title: 'Id', cell: ({ merchant_id }) => <CopyId id={merchant_id} isShort /> },
  {
    title: 'Money',
    cell: ({ merchant_id, name }) => (
      <Link to={`/operator/merchants/${merchant_id}`} aria-label={`Statement of ${name}`} className="whole">
        Statement
      </Link>
    ),
  },
];

/** What was made or whom somebody invited. */
interface Made {
  note: string | null;
  /** Undefined: a form that was sent before, whose link was shown then. */
  invited: Invited | undefined;
}

const MODES = [
  { value: 'sandbox', label: 'sandbox: nothing is real money' },
  { value: 'live', label: 'live: real money' },
];

const EmailField = ({ errorOf, isFirst = false }: { errorOf: ErrorOf; isFirst?: boolean }) => (
  <TextInput
    name="email"
    type="email"
    label="E-mail address of the first owner"
    error={errorOf('email')}
    autoComplete="off"
    required
    {...(isFirst ? { 'data-autofocus': true } : {})}
  />
);

const NewMerchant = ({ show }: { show: (made: Made) => void }) => (
  <FormDialog
    label="New merchant"
    submit="Create"
    isMain
    names={['name', 'mode', 'email']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="name"
          label="Name"
          maxLength={200}
          error={errorOf('name')}
          autoComplete="off"
          required
          data-autofocus
        />
        <NativeSelect
          name="mode"
          label="Mode"
          description="It never changes."
          data={MODES}
          error={errorOf('mode')}
        />
        <EmailField errorOf={errorOf} />
      </>
    )}
    send={(fields) => ({
      path: `${OPERATOR}/merchants`,
      body: {
        name: textOf(fields, 'name'),
        mode: textOf(fields, 'mode'),
        email: emailOf(fields),
      },
    })}
    done={(answer, fields) => {
      const { note, link_token: token } = answer as { note: string | null; link_token: string | null };
      show({ note, invited: token === null ? undefined : invitedOf(answer, emailOf(fields)) });
    }}
  />
);

/** Invites again, where the first link was lost or has expired. */
const InviteOwner = ({ merchant_id, name, show }: Merchant & { show: (made: Made) => void }) => (
  <FormDialog
    label="Invite owner"
    title={`Invite the first owner of ${name}`}
    submit="Invite"
    names={['email']}
    fields={(errorOf) => <EmailField errorOf={errorOf} isFirst />}
    send={(fields) => ({
      path: `/console/api/merchants/${merchant_id}/users`,
      body: { email: emailOf(fields), role: 'owner' },
    })}
    done={(answer, fields) => show({ note: null, invited: invitedOf(answer, emailOf(fields)) })}
  />
);

/** What was made, until it is put away. */
function MadeNotice({ made, close }: { made: Made; close: () => void }) {
  return (
    <>
      {made.note !== null && (
        <Alert color="red" variant="outline" title="The merchant is there, without a wallet yet" role="alert">
          <Text size="sm">{made.note}</Text>
        </Alert>
      )}
      {made.invited === undefined ? (
        <Alert variant="outline" title="This was made before" role="status">
          <Text size="sm">The link was shown then. Where it was lost, invite the owner again.</Text>
        </Alert>
      ) : (
        <InvitedBy invited={made.invited} close={close} />
      )}
    </>
  );
}

const changesFor = (show: (made: Made) => void): Column<Merchant> => ({
  title: 'Changes',
  cell: (merchant) => (
    <Group gap="xs">
      <StatusChange {...merchant} />
      {!merchant.has_owner && <InviteOwner {...merchant} show={show} />}
    </Group>
  ),
});

function StatusChange({ merchant_id, name, status }: Merchant) {
  return (
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
  );
}

/** Every merchant of the installation. */
export function MerchantsPage() {
  const operates = useOperates();
  const [made, show] = useState<Made>();
  return (
    <WholeList
      title="Merchants"
      path={`${OPERATOR}/merchants`}
      idOf={({ merchant_id }) => merchant_id}
      columns={operates ? [...SEEN, changesFor(show)] : SEEN}
      actions={operates && <NewMerchant show={show} />}
      notice={made !== undefined && <MadeNotice made={made} close={() => show(undefined)} />}
      empty={{
        text: 'No merchant yet. An operator makes one here, or whoever has the database:',
        command: 'npx florin merchants create --name "Shop"',
      }}
    />
  );
}

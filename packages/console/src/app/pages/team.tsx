import { Button, Group, NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.ts';
import { Action } from '../detail.tsx';
import { emailOf, textOf } from '../form.ts';
import { FormDialog, Seen } from '../form-dialog.tsx';
import { Status } from '../format.tsx';
import { type Invited, InvitedBy, invitedOf } from '../invitation.tsx';
import type { Column } from '../list.tsx';
import { useMembership, usePlace } from '../place.ts';
import { rolesQuery } from '../roles-query.ts';
import { meQuery } from '../session.ts';
import { WholeList } from '../whole-list.tsx';
import { KeysOfUser } from './keys-of-user.tsx';

interface User {
  user_id: string;
  email: string;
  role: string;
  status: 'invited' | 'active';
  second_factor: boolean;
}

/** Who has gone, once the list is without them: what they know stays on the page until somebody has read it. */
function Gone({ user, path, close }: { user: User; path: string; close: () => void }) {
  const { data: list } = useQuery({
    queryKey: ['users', path],
    queryFn: ({ signal }) => call<{ data: User[] }>(path, { signal }),
  });
  const isGone = list?.data.every(({ user_id, status }) => user_id !== user.user_id || status !== 'active');
  if (isGone !== true) return null;
  return (
    <Paper withBorder p="md" role="status">
      <Stack gap="xs" align="start">
        <Text fw={600}>{user.email} has no role here any more</Text>
        <KeysOfUser userId={user.user_id} />
        <Button variant="default" size="xs" onClick={close}>
          Done
        </Button>
      </Stack>
    </Paper>
  );
}

interface Acting {
  path: string;
  own: string;
  /** The roles that the person may give and take. */
  roles: readonly string[];
  /** Called when a removal is sent. */
  remove: (user: User) => void;
}

interface RoleFieldProps extends Pick<Acting, 'roles'> {
  chosen: string;
  error: string | undefined;
}
const RoleField = ({ chosen, roles, error }: RoleFieldProps) => (
  <NativeSelect name="role" label="Role" defaultValue={chosen} data={[...roles]} error={error} />
);

type Inviting = Pick<Acting, 'path' | 'roles'> & { show: (invited: Invited) => void };
const Invite = ({ path, roles, show }: Inviting) => (
  <FormDialog
    label="Invite"
    submit="Invite"
    isMain
    names={['email', 'role']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="email"
          type="email"
          label="E-mail address"
          error={errorOf('email')}
          autoComplete="off"
          required
          data-autofocus
        />
        <RoleField chosen="viewer" roles={roles} error={errorOf('role')} />
      </>
    )}
    send={(fields) => ({
      path,
      body: { email: emailOf(fields), role: textOf(fields, 'role') },
    })}
    done={(answer, fields) => show(invitedOf(answer, emailOf(fields)))}
  />
);

function UserActions({ user, path, own, roles, remove }: Acting & { user: User }) {
  const one = `${path}/${user.user_id}`;
  // What the service would refuse is not offered.
  if (!roles.includes(user.role)) return null;
  return (
    <Group gap="xs">
      {user.status === 'active' && (
        <FormDialog
          label="Change role"
          submit="Save"
          names={['role']}
          fields={(errorOf) => (
            <>
              <Seen value={user.role} />
              <RoleField chosen={user.role} roles={roles} error={errorOf('role')} />
            </>
          )}
          send={(fields) => ({
            path: one,
            method: 'PUT',
            body: { role: textOf(fields, 'role'), seen: textOf(fields, 'seen') },
          })}
        />
      )}
      {user.status === 'active' && user.second_factor && own === 'owner' && (
        <Action
          label="Reset second factors"
          question={`Take the authenticator app, passkeys and recovery codes of ${user.email} away? Speak with them first: whoever knows their password then comes in, and sets up factors of their own. Their sessions end at once.`}
          path={`${one}/reset-factors`}
          isDangerous
        />
      )}
      {user.status === 'active' ? (
        <FormDialog
          label="Remove"
          submit="Remove"
          names={[]}
          fields={() => (
            <>
              <Text>Take the role of {user.email} away? Their sessions end at once.</Text>
              <KeysOfUser userId={user.user_id} />
            </>
          )}
          send={() => {
            // The row disappears with the removal, so it cannot report its end.
            remove(user);
            return { path: one, method: 'DELETE' };
          }}
        />
      ) : (
        <Action
          label="Withdraw"
          question={`Withdraw the invitation of ${user.email}? Its link works no more.`}
          path={one}
          method="DELETE"
          isDangerous
        />
      )}
    </Group>
  );
}

const SEEN: Column<User>[] = [
  { title: 'E-mail', cell: ({ email }) => email },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Status', cell: ({ status }) => <Status name={status} /> },
  { title: 'Second factor', cell: ({ second_factor }) => (second_factor ? 'yes' : 'no') },
];

const columnsFor = (acting: Acting, me: string | undefined): Column<User>[] => [
  ...SEEN,
  {
    title: 'Changes',
    cell: (user) => (user.user_id === me ? 'you' : <UserActions user={user} {...acting} />),
  },
];

/** The people of the merchant, of whichever store the page was opened. */
export function TeamPage() {
  const place = usePlace();
  const me = useQuery(meQuery).data;
  const path = `/console/api/merchants/${place.merchant}/users`;
  const [invited, show] = useState<Invited>();
  const [gone, setGone] = useState<User>();
  const own = useMembership()?.role ?? '';
  const listed = useQuery(rolesQuery(place.merchant)).data?.data ?? [];
  const roles = listed.flatMap(({ name, is_assignable }) => (is_assignable ? [name] : []));
  const assigns = roles.length > 0;
  return (
    <WholeList
      title="Team"
      path={path}
      idOf={({ user_id, status }: User) => `${user_id} ${status}`}
      columns={assigns ? columnsFor({ path, own, roles, remove: setGone }, me?.user_id) : SEEN}
      actions={assigns && <Invite path={path} roles={roles} show={show} />}
      notice={
        <>
          {invited !== undefined && <InvitedBy invited={invited} close={() => show(undefined)} />}
          {gone !== undefined && <Gone user={gone} path={path} close={() => setGone(undefined)} />}
        </>
      }
      empty="Nobody has a role yet."
    />
  );
}

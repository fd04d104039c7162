import { Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Choices } from '../choices.tsx';
import { Action } from '../detail.tsx';
import { textOf } from '../form.ts';
import { type ErrorOf, FormDialog, Seen } from '../form-dialog.tsx';
import type { Column } from '../list.tsx';
import { inOrder, permissionsLine, permissionText } from '../permissions.ts';
import { useMembership, usePlace } from '../place.ts';
import { type Role, rolesPath, rolesQuery } from '../roles-query.ts';
import { WholeList } from '../whole-list.tsx';

/** What every role permits: no page makes sense without it. */
const ALWAYS = 'see';

interface ChoicesProps {
  /** What the person may give. */
  offered: readonly string[];
  /** Those that the role has are offered, too: what is not shown would be taken away. */
  chosen: readonly string[];
  errorOf: ErrorOf;
}

const PermissionChoices = ({ offered, chosen, errorOf }: ChoicesProps) => (
  <Choices name="permissions" legend="People with this role may" wrong={errorOf('permissions')}>
    {inOrder([...new Set([...offered, ...chosen])]).map((name) => (
      <label key={name}>
        <input
          type="checkbox"
          name="permissions"
          value={name}
          defaultChecked={name === ALWAYS || chosen.includes(name)}
          disabled={name === ALWAYS}
        />{' '}
        {permissionText(name)}
      </label>
    ))}
  </Choices>
);

const permissionsOf = (fields: FormData) => fields.getAll('permissions').map(String);

const NewRole = ({ path, offered }: { path: string; offered: readonly string[] }) => (
  <FormDialog
    label="New role"
    submit="Make the role"
    isMain
    names={['name', 'permissions']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="name"
          label="Name"
          description="Lower-case letters, digits, dashes and underscores"
          error={errorOf('name')}
          autoComplete="off"
          required
          data-autofocus
        />
        <PermissionChoices offered={offered} chosen={[]} errorOf={errorOf} />
      </>
    )}
    send={(fields) => ({
      path,
      body: { name: textOf(fields, 'name').trim(), permissions: permissionsOf(fields) },
    })}
  />
);

interface ActingProps {
  path: string;
  offered: readonly string[];
}

function RoleActions({ role, path, offered }: ActingProps & { role: Role }) {
  const one = `${path}/${role.name}`;
  return (
    <Group gap="xs">
      <FormDialog
        label="Edit"
        title={`Edit ${role.name}`}
        submit="Save"
        names={['permissions']}
        fields={(errorOf) => (
          <>
            {role.members > 0 && (
              <Text size="sm">
                {role.members === 1 ? 'One person has' : `${role.members} people have`} this role. What you
                change holds for them at once.
              </Text>
            )}
            <Seen value={role.permissions.join(' ')} />
            <PermissionChoices offered={offered} chosen={role.permissions} errorOf={errorOf} />
          </>
        )}
        send={(fields) => ({
          path: one,
          method: 'PUT',
          body: { permissions: permissionsOf(fields), seen: textOf(fields, 'seen').split(' ') },
        })}
      />
      {role.members === 0 && (
        <Action
          label="Delete"
          question={`Delete the role ${role.name}? Nobody has it.`}
          path={one}
          method="DELETE"
          isDangerous
        />
      )}
    </Group>
  );
}

const columnsFor = (acting: ActingProps, own: string | undefined): Column<Role>[] => [
  { title: 'Role', cell: ({ name }) => <span style={{ whiteSpace: 'nowrap' }}>{name}</span> },
  {
    title: 'People with it may',
    cell: ({ permissions }) => permissionsLine(permissions),
  },
  { title: 'People', cell: ({ members }) => members },
  {
    title: 'Changes',
    cell: (role) => {
      if (role.is_built_in) return 'built in';
      if (role.name === own) return 'yours';
      return role.is_assignable ? <RoleActions role={role} {...acting} /> : 'by an owner';
    },
  },
];

/** What the people of the merchant may do: the built-in roles, and those that it makes for itself. */
export function RolesPage() {
  const path = rolesPath(usePlace().merchant);
  const own = useMembership()?.role;
  const offered = useQuery(rolesQuery(usePlace().merchant)).data?.givable_permissions ?? [];
  return (
    <WholeList
      title="Roles"
      path={path}
      idOf={({ name }: Role) => name}
      columns={columnsFor({ path, offered }, own)}
      actions={offered.length > 0 && <NewRole path={path} offered={offered} />}
      empty="There are no roles."
    />
  );
}

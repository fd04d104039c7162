import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CopyId } from './format.tsx';
import type { Membership } from './me.ts';
import { meQuery } from './session.ts';

interface WhoMayProps {
  permission: string;
  /** Where the person's role does not permit it. */
  merchants: readonly Pick<Membership, 'name' | 'role' | 'own_roles'>[];
}

const LIST = new Intl.ListFormat('en-GB');
const ONE_WORD = ['finance', 'support'];
/** Those who have a role. */
const peopleOf = (role: string) => (ONE_WORD.includes(role) ? role : `${role}s`);

/** Names the roles that may open the page, and gives the address to send to somebody who has one. */
export function WhoMay({ permission, merchants }: WhoMayProps) {
  const builtIn = useQuery(meQuery).data?.roles_with[permission] ?? [];
  const own = merchants.flatMap(({ own_roles }) => own_roles);
  const roles = [
    ...builtIn.map(peopleOf),
    ...own.filter(({ permissions }) => permissions.includes(permission)).map(({ name }) => `“${name}”`),
  ];
  return (
    <Stack>
      <Text>
        This page is for {LIST.format(roles)}. You are{' '}
        {merchants.map(({ name, role }) => `${role} of ${name}`).join(', ')}.
      </Text>
      <Text>Send one of them this address:</Text>
      <CopyId id={location.href} />
    </Stack>
  );
}

import { Stack, Text } from '@mantine/core';
import { CopyId } from '../format.tsx';

/** Shown to whoever's role does not read the request log: who does, and what to send them. */
export const WhoMayRead = ({ merchants }: { merchants: readonly { name: string; role: string }[] }) => (
  <Stack>
    <Text>
      The request log is for owners, admins, developers and support. Your role does not read it:{' '}
      {merchants.map(({ name, role }) => `${role} of ${name}`).join(', ')}.
    </Text>
    <Text>Send one of them this address:</Text>
    <CopyId id={location.href} />
  </Stack>
);

import { Anchor, Center, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { hasEnded } from './api.ts';
import { useTitle } from './title.ts';
import { ACCOUNT, SIGN_IN, Trouble } from './trouble.tsx';

/** Signing in leads back to where somebody is. */
const signInFor = () => `${SIGN_IN}?next=${encodeURIComponent(location.pathname + location.search)}`;

/** What is shown in the place of the console. */
export function Sheet({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" maw={440} w="100%">
        <Stack>
          <Title order={1} size="h2">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

/** Leaves the application. */
function LeaveFor({ address }: { address: string }) {
  useEffect(() => location.replace(address), [address]);
  return null;
}

/** While nothing is known of a person: who has no session signs in, anything else is said. */
export function NotIn({ error }: { error: Error | null }) {
  if (error === null) return null;
  if (hasEnded(error)) return <LeaveFor address={signInFor()} />;
  return (
    <Sheet title="Console">
      <Trouble error={error} />
    </Sheet>
  );
}

/** Shown to whoever needs a second factor and has none: without it a role that moves money may do nothing. */
export const FactorNeeded = () => (
  <Sheet title="A second factor">
    <Text>
      Your role moves money, makes keys or sees every merchant, so signing in takes a code of an authenticator
      app as well.
    </Text>
    <Anchor href={ACCOUNT}>Set it up</Anchor>
  </Sheet>
);

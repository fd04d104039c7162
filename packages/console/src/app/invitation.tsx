import { Button, Paper, Stack, Text } from '@mantine/core';
import { CopyId } from './format.tsx';

/** The link in an answer: its secret is shown once and kept nowhere. */
export const linkOf = (answer: unknown): string => {
  const { link_token } = answer as { link_token: string };
  return `${location.origin}/console/link#${link_token}`;
};

/** The link by which somebody comes in. */
export function Invitation({ link, close }: { link: string; close: () => void }) {
  return (
    <Paper withBorder p="md" role="status">
      <Stack gap="xs" align="start">
        <Text fw={600}>The invitation is ready</Text>
        <Text size="sm">
          Send this link to the person, and to nobody else: it works once, within 7 days, and is not shown
          again.
        </Text>
        <CopyId id={link} />
        <Button variant="default" size="xs" onClick={close}>
          Done
        </Button>
      </Stack>
    </Paper>
  );
}

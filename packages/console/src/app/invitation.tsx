import { Button, Paper, Stack, Text } from '@mantine/core';
import { CopyId } from './format.tsx';
import { useUnsaved } from './unsaved.ts';

/** The link in an answer: its secret is shown once and kept nowhere. */
const linkOf = (answer: unknown): string => {
  const { link_token } = answer as { link_token: string };
  return `${location.origin}/console/link#${link_token}`;
};

/** Whom somebody has invited, and their link unless it goes by mail. */
export interface Invited {
  email: string;
  link: string | undefined;
}

export const invitedOf = (answer: unknown, email: string): Invited => {
  const { link_token: token } = answer as { link_token: string | null };
  return { email, link: token === null ? undefined : linkOf(answer) };
};

const LINKED =
  'Send this link to the person, and to nobody else: it works once, within 7 days, and is not shown again.';
const MAILED =
  'Its link works once, within 7 days. If no mail arrives, invite them again: the link before works no more.';

/** How the invited person comes in: by the link, or by the mail that brings it. */
export function InvitedBy({ invited: { email, link }, close }: { invited: Invited; close: () => void }) {
  useUnsaved(() => link !== undefined, 'Leave this? The link is not shown again.');
  return (
    <Paper withBorder p="md" role="status">
      <Stack gap="xs" align="start">
        <Text fw={600}>
          {link === undefined ? `A mail is on its way to ${email}` : 'The invitation is ready'}
        </Text>
        <Text size="sm">{link === undefined ? MAILED : LINKED}</Text>
        {link !== undefined && <CopyId id={link} />}
        <Button variant="default" size="xs" onClick={close}>
          Done
        </Button>
      </Stack>
    </Paper>
  );
}

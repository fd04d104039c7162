import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { ApiError, hasEnded, PageError } from './api.ts';
import { CopyId } from './format.tsx';

// People sign in, and set up what is their own, at pages of the service that need nothing of this application.
export const SIGN_IN = '/console/sign-in';
export const ACCOUNT = '/console/account';

/** Another tab, so that this one keeps what stands in it. The account's page asks for the sign-in and stays. */
export const SignInAgain = () => (
  <Text size="sm">
    Your session has ended.{' '}
    <Anchor href={ACCOUNT} target="_blank" inherit>
      Sign in again in a new tab
    </Anchor>
    , then come back: what you typed stays here.
  </Text>
);

/** What went wrong, in the service's words, with the request that an operator can look up. */
export function Trouble({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const isApi = error instanceof ApiError;
  const text =
    isApi || error instanceof PageError
      ? error.message
      : 'The service cannot be reached. Is the network there?';
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      title={isApi && error.status === 403 ? 'Not allowed' : 'This did not work'}
    >
      {hasEnded(error) ? <SignInAgain /> : <Text size="sm">{text}</Text>}
      <Group mt="xs" gap="xs">
        {isApi && error.requestId !== '' && (
          <>
            <Text size="sm">Request</Text>
            <CopyId id={error.requestId} />
          </>
        )}
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

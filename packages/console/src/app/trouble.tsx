import { Alert, Button, Group, Text } from '@mantine/core';
import { ApiError, PageError } from './api.ts';
import { CopyId } from './format.tsx';

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
      <Text size="sm">{text}</Text>
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

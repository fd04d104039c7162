import { Anchor, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { hasEnded } from './api.ts';
import { meQuery, SomebodyElse } from './session.ts';
import { SignInAgain } from './trouble.tsx';

function Why({ error, email }: { error: Error; email: string }) {
  if (hasEnded(error)) return <SignInAgain />;
  if (error instanceof SomebodyElse)
    return (
      <Text size="sm">
        This browser is signed in as {error.email} now. Sign in as {email} to go on here, or{' '}
        {/* All that the page has read is of the other person: it begins anew. */}
        <Anchor href="/console">open the console as {error.email}</Anchor>.
      </Text>
    );
  return <Text size="sm">The service cannot be reached. Trying again; what you typed stays here.</Text>;
}

/** What a page missed while it could read nothing is read once it can again. */
function Away({ error, email }: { error: Error; email: string }) {
  const client = useQueryClient();
  useEffect(() => () => void client.invalidateQueries(), [client]);
  return (
    <div className="connection" role="alert">
      <Why error={error} email={email} />
    </div>
  );
}

/** Over a page whose session has ended or whose service is away: the page stays, with all that was typed into it. */
export function Connection() {
  const { data: me, error } = useQuery(meQuery);
  return me !== undefined && error !== null && <Away error={error} email={me.email} />;
}

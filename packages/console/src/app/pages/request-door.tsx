import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { ApiError, call } from '../api.ts';
import { FactorNeeded, NotIn, Sheet } from '../doors.tsx';
import type { Me, Membership } from '../me.ts';
import { useId } from '../place.ts';
import { lacksFactor, meQuery } from '../session.ts';
import { WhoMayRead } from './who-may.tsx';

const NEEDED = 'see_requests';

/** The request in the log of the first of these merchants that has it. */
async function findRequest(id: string, merchants: readonly Membership[], signal: AbortSignal) {
  for (const { merchant_id: merchant } of merchants) {
    try {
      const path = `/console/api/merchants/${merchant}/requests/${encodeURIComponent(id)}`;
      const { store } = await call<{ store: string }>(path, { signal });
      return { merchant, store };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  return null;
}

const NotFound = ({ id, me }: { id: string; me: Me }) => {
  const others = me.merchants.filter(({ permissions }) => !permissions.includes(NEEDED));
  return (
    <Sheet title="No such request">
      <Text>
        {id} is not in the logs that you read. Requests whose API key does not exist are not recorded, nor are
        those that a key sends too many of; others are kept for 30 days.
      </Text>
      {others.length > 0 && <WhoMayRead merchants={others} />}
      <Anchor href="/console">Open the console</Anchor>
    </Sheet>
  );
};

/** Where `request_log_url` of errors leads: it names a request alone, and finds out whose it is. */
export function RequestDoor() {
  const id = useId();
  const me = useQuery(meQuery);
  const merchants = me.data?.merchants ?? [];
  const readable = merchants.filter(({ permissions }) => permissions.includes(NEEDED));
  const isComplete = me.data !== undefined && !readable.some((one) => me.data && lacksFactor(me.data, one));
  const found = useQuery({
    queryKey: ['request', id, readable.map(({ merchant_id }) => merchant_id)],
    queryFn: ({ signal }) => findRequest(id, readable, signal),
    enabled: isComplete && readable.length > 0,
  });
  const error = me.error ?? found.error;
  if (error !== null) return <NotIn error={error} />;
  if (me.data === undefined) return null;
  if (merchants.length > 0 && readable.length === 0)
    return (
      <Sheet title="Request log">
        <WhoMayRead merchants={merchants} />
      </Sheet>
    );
  if (!isComplete) return <FactorNeeded />;
  if (found.data === null || readable.length === 0) return <NotFound id={id} me={me.data} />;
  if (found.data === undefined) return <Skeleton height={320} aria-label="Loading" />;
  const { merchant, store } = found.data;
  return <Navigate to={`/${merchant}/${store}/requests/${encodeURIComponent(id)}`} replace />;
}

import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { ApiError, call } from '../api.ts';
import { FactorNeeded, NotIn, Sheet } from '../doors.tsx';
import type { Me, Membership } from '../me.ts';
import { useId } from '../place.ts';
import { lacksFactor, meQuery } from '../session.ts';
import { WhoMay } from '../who-may.tsx';
import { OPERATOR } from './operator/place.ts';

const NEEDED = 'see_requests';

/** The logs that a person reads. */
interface Readable {
  merchants: readonly Membership[];
  /** Those of all merchants, by a role of the installation. */
  readsAll: boolean;
}

const isAbsent = (error: unknown) => error instanceof ApiError && error.status === 404;

/** The request in the log of the first of these merchants that has it, else of any where a role of the installation reads all. */
async function findRequest(id: string, { merchants, readsAll }: Readable, signal: AbortSignal) {
  for (const { merchant_id: merchant } of merchants) {
    try {
      const path = `/console/api/merchants/${merchant}/requests/${encodeURIComponent(id)}`;
      const { store } = await call<{ store: string }>(path, { signal });
      return { merchant, store };
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  if (!readsAll) return null;
  const path = `${OPERATOR}/requests/${encodeURIComponent(id)}`;
  return await call<{ merchant: string; store: string }>(path, { signal }).catch((error: unknown) => {
    if (isAbsent(error)) return null;
    throw error;
  });
}

const NotFound = ({ id, me }: { id: string; me: Me }) => {
  const others = me.installation_permissions.includes(NEEDED)
    ? []
    : me.merchants.filter(({ permissions }) => !permissions.includes(NEEDED));
  return (
    <Sheet title="No such request">
      <Text>
        {id} is not in the logs that you read. Requests whose API key does not exist are not recorded, nor are
        those that a key sends too many of; others are kept for 30 days.
      </Text>
      {others.length > 0 && <WhoMay permission={NEEDED} merchants={others} />}
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
  const readsAll = me.data?.installation_permissions.includes(NEEDED) === true;
  const isReader = readsAll || readable.length > 0;
  const isComplete =
    me.data !== undefined &&
    !readable.some((one) => me.data && lacksFactor(me.data, one)) &&
    (me.data.second_factor || !readsAll);
  const found = useQuery({
    queryKey: ['request', id, readsAll, readable.map(({ merchant_id }) => merchant_id)],
    queryFn: ({ signal }) => findRequest(id, { merchants: readable, readsAll }, signal),
    enabled: isComplete && isReader,
  });
  if (me.data === undefined) return <NotIn error={me.error} />;
  if (found.error !== null) return <NotIn error={found.error} />;
  if (merchants.length > 0 && !isReader)
    return (
      <Sheet title="Request log">
        <WhoMay permission={NEEDED} merchants={merchants} />
      </Sheet>
    );
  if (!isComplete) return <FactorNeeded />;
  if (found.data === null || !isReader) return <NotFound id={id} me={me.data} />;
  if (found.data === undefined) return <Skeleton height={320} aria-label="Loading" />;
  const { merchant, store } = found.data;
  return <Navigate to={`/${merchant}/${store}/requests/${encodeURIComponent(id)}`} replace />;
}

import { Alert, Code, Group, Paper, Skeleton, Stack, Text, Textarea, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { Action, Facts } from '../../detail.tsx';
import { textOf } from '../../form.ts';
import { FormDialog, Seen } from '../../form-dialog.tsx';
import { IsoTime, NETWORK_NAMES } from '../../format.tsx';
import { meQuery } from '../../session.ts';
import { Trouble } from '../../trouble.tsx';
import { Alone } from './alone.tsx';
import { OPERATOR, useOperates } from './place.ts';
import { RunningParts } from './running.tsx';

const PATH = `${OPERATOR}/networks`;

interface Stop {
  what: 'sending' | 'early_credit';
  reason: string;
  height: number | null;
  causes: number;
  stopped_at: string | null;
  last_at: string | null;
}

interface ResumeRequest {
  request_id: string;
  requested_by: string;
  email: string;
  reason: string;
  requested_at: string | null;
  expires_at: string | null;
  status: 'open' | 'changed' | 'expired' | 'void';
}

interface StoppedChain {
  network: string;
  merchant: { merchant_id: string; name: string } | null;
  seen: string;
  stops: Stop[];
  request: ResumeRequest | null;
}

interface Stopped {
  data: StoppedChain[];
  operators: number;
}

const nameOf = (network: string) => NETWORK_NAMES[network] ?? network;

const WHAT: Record<Stop['what'], string> = {
  sending: 'Nothing is sent: payouts and refunds wait',
  early_credit: 'Deposits wait for final blocks',
};

const StopFacts = ({ stop }: { stop: Stop }) => (
  <Facts
    facts={[
      ['What is stopped', WHAT[stop.what]],
      ['Cause', stop.reason],
      ['Lowest block', stop.height],
      ['Since', <IsoTime key="since" at={stop.stopped_at} />],
      ...(stop.causes > 1
        ? ([
            ['Found', `${stop.causes} times`],
            ['Last found', <IsoTime key="last" at={stop.last_at} />],
          ] as const)
        : []),
    ]}
  />
);

const OVER: Record<Exclude<ResumeRequest['status'], 'open'>, string> = {
  changed: 'This request ended, as the network has stopped again since. Look at the cause anew.',
  expired: 'This request ended, as nobody confirmed it within a day.',
  void: 'This request ended, as who made it is no operator any more.',
};

function Decide({ chain, request, isOwn }: { chain: StoppedChain; request: ResumeRequest; isOwn: boolean }) {
  const { network, seen } = chain;
  const { request_id } = request;
  return (
    <Group gap="xs">
      {!isOwn && (
        <Action
          label="Confirm"
          question={`Send on ${nameOf(network)} again, for all live merchants? You have examined the cause yourself, and the books agree with the chain.`}
          path={`${PATH}/${network}/resume`}
          body={{ request_id, seen }}
        />
      )}
      <Action
        label={isOwn ? 'Withdraw' : 'Refuse'}
        question={`${isOwn ? 'Withdraw' : 'Refuse'} this request? ${nameOf(network)} stays stopped.`}
        path={`${PATH}/${network}/withdraw`}
        body={{ request_id }}
        isDangerous
      />
    </Group>
  );
}

function Request({ chain, request }: { chain: StoppedChain; request: ResumeRequest }) {
  const operates = useOperates();
  const me = useQuery(meQuery).data;
  const isOwn = me?.user_id === request.requested_by;
  return (
    <Alert color={request.status === 'open' ? 'blue' : 'gray'} variant="outline" title="Asked to resume">
      <Stack gap="xs">
        <Text size="sm">
          {isOwn ? 'You' : request.email}, <IsoTime at={request.requested_at} />: {request.reason}
        </Text>
        <Text size="sm">
          {request.status !== 'open' ? (
            OVER[request.status]
          ) : (
            <>
              {isOwn ? 'Another operator confirms it' : 'It waits for you or another operator'}, until{' '}
              <IsoTime at={request.expires_at} />.
            </>
          )}
        </Text>
        {operates && request.status === 'open' && (
          // What is confirmed is what the dialog was opened on: another request, or another cause, closes it.
          <Decide key={`${request.request_id} ${chain.seen}`} chain={chain} request={request} isOwn={isOwn} />
        )}
      </Stack>
    </Alert>
  );
}

const Ask = ({ network, seen }: StoppedChain) => (
  <FormDialog
    label="Ask to resume"
    title={`Resume ${nameOf(network)}`}
    submit="Ask another operator"
    isMain
    names={['reason']}
    fields={(errorOf) => (
      <>
        <Seen value={seen} />
        <Textarea
          name="reason"
          label="What you have found"
          description="Whoever confirms it reads this, and so does the audit log."
          maxLength={500}
          autosize
          minRows={3}
          error={errorOf('reason')}
          required
          data-autofocus
        />
      </>
    )}
    send={(fields) => ({
      path: `${PATH}/${network}/resume-requests`,
      body: { reason: textOf(fields, 'reason'), seen: textOf(fields, 'seen') },
    })}
  />
);

const ALONE_COMMAND = 'npx florin networks resume';

/** Shown where there is only one operator, as a second one would have to confirm. */
const NoSecond = ({ network }: { network: string }) => (
  <Alone who="You are the only operator">
    two approvers of the installation resume it where the database is:{' '}
    <Code>
      {ALONE_COMMAND} {network} --as &quot;Ada Lovelace&quot;
    </Code>
  </Alone>
);

function Resume({ chain, operators }: { chain: StoppedChain; operators: number }) {
  const { network, merchant, seen, request } = chain;
  if (merchant !== null)
    return (
      <Action
        label="Resume"
        question={`Send on ${nameOf(network)} again for ${merchant.name}? It is a sandbox: no money waits.`}
        path={`${OPERATOR}/merchants/${merchant.merchant_id}/networks/${network}/resume`}
        body={{ seen }}
      />
    );
  if (operators < 2) return <NoSecond network={network} />;
  return request?.status === 'open' ? null : <Ask {...chain} />;
}

function Chain({ chain, operators }: { chain: StoppedChain; operators: number }) {
  const operates = useOperates();
  const { network, merchant, stops, request } = chain;
  const title = `${nameOf(network)}, ${merchant === null ? 'all live merchants' : `sandbox of ${merchant.name}`}`;
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Stack gap="sm" align="start">
        <Title order={2} size="h4">
          {title}
        </Title>
        {stops.map((stop) => (
          <StopFacts key={stop.what} stop={stop} />
        ))}
        {request !== null && <Request chain={chain} request={request} />}
        {operates && <Resume chain={chain} operators={operators} />}
      </Stack>
    </Paper>
  );
}

const FIRST =
  'Examine the cause first: florin ledger verify compares the books with the chain. Once it is final again, one operator asks to resume, and another one confirms.';

function Networks({ data, operators }: Stopped) {
  const open = Object.keys(NETWORK_NAMES).filter((network) => data.every((one) => one.network !== network));
  return (
    <>
      {data.length > 0 && <Text size="sm">{FIRST}</Text>}
      {data.map((chain) => (
        <Chain key={`${chain.network} ${chain.merchant?.merchant_id}`} chain={chain} operators={operators} />
      ))}
      {open.length > 0 && (
        <Text>
          Nothing is stopped on {open.map(nameOf).join(', ')}. A network stops by itself where final blocks or
          transactions were taken back.
        </Text>
      )}
    </>
  );
}

/** Where nothing of real money is sent. */
const liveStops = ({ data }: Stopped): string[] =>
  data.flatMap(({ network, merchant, stops }) =>
    merchant === null && stops.some(({ what }) => what === 'sending') ? [network] : [],
  );

/** Networks that are stopped, with their cause, and how far each is. Two operators resume one of real money. */
export function NetworksPage() {
  const query = useQuery({
    queryKey: ['whole', PATH],
    queryFn: ({ signal }) => call<Stopped>(PATH, { signal }),
    refetchInterval: 10_000,
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Networks
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.data !== undefined && (
        <>
          <Networks {...query.data} />
          <RunningParts stopped={liveStops(query.data)} />
        </>
      )}
    </Stack>
  );
}

import { Alert, Anchor, Code, Group, Stack, Table, Text } from '@mantine/core';
import { Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { CopyId, Maybe, Status, Time } from '../format.tsx';
import { usePlace } from '../place.ts';
import { HttpStatus, type LoggedRequest } from './request-parts.tsx';

interface Body {
  bytes: number;
  text: string | null;
  is_cut: boolean;
}

interface Step {
  name: string;
  ok: boolean | null;
  reason: string;
  advice: string | null;
}

interface Explanation {
  summary: string;
  payload: { bytes: number; sha256: string } | null;
  steps: Step[];
  signed_payload: string | null;
}

interface RequestDetails extends LoggedRequest {
  request_headers: string;
  request_body: Body;
  answer_body: Body;
  explanation: Explanation | null;
}

const LIST = { title: 'Request log', folder: 'requests' };

/** JSON in lines; anything else, and what was cut, as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function BodyText({ body: { bytes, text, is_cut } }: { body: Body }) {
  if (text === null) return <Text>{bytes === 0 ? 'None.' : `${bytes} bytes, not recorded.`}</Text>;
  return (
    <Stack gap={4}>
      <Text size="sm" c="var(--plain)">
        {bytes} bytes{is_cut && ', cut here'}; secrets are masked.
      </Text>
      <Code block className="curl">
        {readable(text)}
      </Code>
    </Stack>
  );
}

const RESULTS = new Map<boolean | null, string>([
  [true, 'fine'],
  [false, 'differs'],
  [null, 'not known'],
]);

const StepRow = ({ step: { name, ok, reason, advice }, number }: { step: Step; number: number }) => (
  <Table.Tr>
    <Table.Td data-label="Step">
      {number}. {name}
    </Table.Td>
    <Table.Td data-label="Result">
      <Status name={RESULTS.get(ok) ?? ''} />
    </Table.Td>
    <Table.Td data-label="What was sent">{reason}</Table.Td>
    <Table.Td data-label="What to do">
      <Maybe>{advice}</Maybe>
    </Table.Td>
  </Table.Tr>
);

const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <Table className="list" aria-label="Steps of signing">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Step</Table.Th>
        <Table.Th>Result</Table.Th>
        <Table.Th>What was sent</Table.Th>
        <Table.Th>What to do</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {steps.map((step, index) => (
        <StepRow key={step.name} step={step} number={index + 1} />
      ))}
    </Table.Tbody>
  </Table>
);

const SignedPayload = ({ signed_payload, payload }: Pick<Explanation, 'signed_payload' | 'payload'>) => (
  <>
    {payload !== null && (
      <Facts
        facts={[
          ['Bytes', payload.bytes],
          ['SHA-256', <CopyId key="sha256" id={payload.sha256} />],
        ]}
      />
    )}
    {signed_payload !== null && (
      <Code block className="curl">
        {signed_payload}
      </Code>
    )}
    <Text size="sm">
      Your code must sign exactly these bytes: compare the SHA-256 of what it signs. In the text secrets are
      masked, and a long body is cut.
    </Text>
  </>
);

function Refusal({ explanation }: { explanation: Explanation }) {
  const { summary, steps, payload, signed_payload } = explanation;
  const differs = steps.findIndex(({ ok }) => ok === false);
  return (
    <Section title="Why the signature was refused">
      <Alert color="red" variant="outline" title={summary}>
        {differs !== -1 && `Step ${differs + 1} of ${steps.length}: ${steps[differs]?.name}. `}
        The steps are those of{' '}
        <Anchor href="/docs/signing#the-steps" inherit underline="always">
          Signing a request
        </Anchor>
        .
      </Alert>
      {steps.length > 0 && <Steps steps={steps} />}
      {(payload ?? signed_payload) !== null && (
        <Section title="What the server signed">
          <SignedPayload payload={payload} signed_payload={signed_payload} />
        </Section>
      )}
    </Section>
  );
}

const factsOf = (request: RequestDetails) =>
  [
    ['Status', <HttpStatus key="status" status={request.status} />],
    [
      'Error',
      request.error_code && (
        <Anchor key="error" href={`/docs/errors/${encodeURIComponent(request.error_code)}`}>
          {request.error_code}
        </Anchor>
      ),
    ],
    [
      'Signature',
      request.verified ? 'right' : `refused${request.refusal ? ` for its ${request.refusal}` : ''}`,
    ],
    [
      'API key',
      <Group key="key" gap="sm">
        <CopyId id={request.key} />
        <FilteredLink folder="requests" filters={{ key_id: request.key }}>
          All with this key
        </FilteredLink>
      </Group>,
    ],
    ['Time', <Time key="time" at={Date.parse(request.at) / 1000} isExact />],
    ['Took', `${request.duration_ms} ms`],
    ['From', request.remote_address],
    ['Query', request.query],
    [
      'Route',
      <Group key="route" gap="sm">
        <Code className="id">{request.route}</Code>
        <FilteredLink folder="requests" filters={{ route: request.route }}>
          All of this route
        </FilteredLink>
      </Group>,
    ],
    // Of a caller's own making: of ours it stands above.
    ['X-Request-Id', request.request_id !== request.id && <CopyId key="id" id={request.request_id} />],
  ] as const;

export function RequestPage() {
  const { merchant } = usePlace();
  return (
    <Detail<RequestDetails>
      list={LIST}
      path={(id) => `/console/api/merchants/${merchant}/requests/${encodeURIComponent(id)}`}
      title={({ method, path }) => `${method} ${path}`}
      isFinal
    >
      {(request) => (
        <>
          <Facts facts={factsOf(request).filter(([, value]) => value !== false)} />
          {request.explanation !== null && <Refusal explanation={request.explanation} />}
          <Section title="Request headers">
            <Code block className="curl">
              {request.request_headers}
            </Code>
          </Section>
          <Section title="Request body">
            <BodyText body={request.request_body} />
          </Section>
          <Section title="Answer">
            <BodyText body={request.answer_body} />
          </Section>
        </>
      )}
    </Detail>
  );
}

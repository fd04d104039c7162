import { Alert, Button, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Action, Facts, Section } from '../detail.tsx';
import { amountText, NETWORK_NAMES, numbered } from '../format.tsx';
import { useMay } from '../place.ts';
import { Trouble } from '../trouble.tsx';
import { askPasskey, type Decision, type Recipient, useDecision } from './decision.ts';

interface DecideProps {
  /** Of the resource, below its merchant: `/refunds/re_…` */
  resource: string;
  /** What is paid, in words. */
  sum: string;
}

const KINDS = [
  { label: 'Approve', decision: 'approved', isDangerous: false },
  { label: 'Reject', decision: 'rejected', isDangerous: true },
] as const;
/** A session signs nothing, and what is under way is not rejected any more. */
const LATE_KINDS = [{ label: 'Sign', decision: 'approved', isDangerous: false }] as const;

const QUESTIONS = {
  Approve: (sum: string) => `Approve ${sum}?`,
  Reject: (sum: string) => `Reject ${sum}? Nobody is paid, and the money is free again.`,
  Sign: (sum: string) => `Sign the approval of ${sum}? It is sent once the signature is there.`,
} as const;

function kindsOf({ way, signs_again: again, is_waiting: isWaiting }: Decision) {
  if (!isWaiting) return way === 'passkey' && again.length > 0 ? LATE_KINDS : [];
  return KINDS.filter(({ decision }) => way !== 'none' || decision === 'rejected');
}

/** Approves or rejects what waits for it, by passkey where the person has one that counts; signs late what waits for that. */
export function Decide({ resource, sum }: DecideProps) {
  const mayApprove = useMay('approve');
  const { path, query } = useDecision(resource);
  const shown = query.data;
  if (!mayApprove || shown === undefined) return null;
  const kinds = kindsOf(shown);
  return kinds.length > 0 && <Choices key={path} path={path} shown={shown} sum={sum} kinds={kinds} />;
}

/** Decides on the digest of the first render. A refetch with another digest hides the buttons until the person reads it. */
function Choices({
  path,
  shown: { way, digest },
  sum,
  kinds,
}: {
  path: string;
  shown: Decision;
  sum: string;
  kinds: ReturnType<typeof kindsOf>;
}) {
  const [seen, setSeen] = useState(digest);
  if (digest !== seen)
    return (
      <Alert color="red" variant="outline" title="Changed since you opened it">
        <Text size="sm">What is paid is not what you have read.</Text>
        <Button mt="xs" variant="default" onClick={() => setSeen(digest)}>
          I have read it again
        </Button>
      </Alert>
    );
  return kinds.map(({ label, decision, isDangerous }) => (
    <Action
      key={label}
      label={label}
      question={QUESTIONS[label](sum)}
      isDangerous={isDangerous}
      {...(way === 'passkey'
        ? { path: `${path}/passkey`, body: () => askPasskey(path, { decision, digest: seen }) }
        : { path, body: { decision, digest: seen } })}
    />
  ));
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en').format(names);

const isMarked = ({ is_new: isNew, looks_like: looksLike }: Recipient) => isNew || looksLike !== null;

/** People have approved payments to this one, and none to the one that looks like it: that one imitates. */
const isImitated = ({ is_new: isNew, looks_like: looksLike, is_alike_approved: isApproved }: Recipient) =>
  looksLike !== null && !isNew && !isApproved;

function Why({ recipient }: { recipient: Recipient }) {
  const { looks_like: alike, is_alike_approved: isApproved } = recipient;
  if (alike === null) return 'nobody has approved a payment to it before';
  if (isImitated(recipient))
    return (
      <Text size="sm" className="digest">
        people have approved payments to it; {alike} looks like it, and was paid without anybody's approval
      </Text>
    );
  return (
    <Text size="sm" c="var(--bad)" className="digest">
      looks like {alike}, which was paid before{isApproved ? ' with approval' : ''}, and is another address
    </Text>
  );
}

/** Recipients whom somebody should look at. */
const Marked = ({ shown: { recipients, currency } }: { shown: Decision }) => (
  <Table className="list" aria-label="Recipients to look at">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Row</Table.Th>
        <Table.Th>Address</Table.Th>
        <Table.Th className="number">Amount</Table.Th>
        <Table.Th>Why</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {recipients.map((one, row) =>
        isMarked(one) ? (
          // Two rows may pay one address.
          // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
          <Table.Tr key={row}>
            <Table.Td data-label="Row">{row + 1}</Table.Td>
            <Table.Td data-label="Address" className="digest">
              {one.address}
            </Table.Td>
            <Table.Td data-label="Amount" className="number">
              {amountText(Number(one.amount), currency)}
            </Table.Td>
            <Table.Td data-label="Why">
              <Why recipient={one} />
            </Table.Td>
          </Table.Tr>
        ) : null,
      )}
    </Table.Tbody>
  </Table>
);

/** What keeps a person from deciding by passkey, by what that means. */
function hintTitle({ way, is_waiting: isWaiting }: Decision): string {
  if (!isWaiting) return 'You cannot sign it';
  return way === 'none' ? 'It can only be rejected now' : 'Your session decides, which is weaker';
}

/** Network, count, sum, digest and conspicuous recipients of what an approver signs. */
export function Signed({ resource }: Pick<DecideProps, 'resource'>) {
  const { query } = useDecision(resource);
  const shown = query.data;
  if (query.error !== null) return <Trouble error={query.error} retry={() => void query.refetch()} />;
  if (shown === undefined || (!shown.is_waiting && shown.signs_again.length === 0)) return null;
  const alike = shown.recipients.filter((one) => one.looks_like !== null && !isImitated(one)).length;
  return (
    <Section title="What you sign">
      {alike > 0 && (
        <Alert color="red" variant="outline" title={`${numbered(alike, 'recipient')} to compare`}>
          An address begins and ends like one that was paid before, and is another one. Ask the recipient by
          another way before you approve.
        </Alert>
      )}
      {shown.hint !== null && (
        <Alert color="orange" variant="outline" title={hintTitle(shown)}>
          {shown.hint}
        </Alert>
      )}
      {shown.signs_again.length > 0 && (
        <Alert
          color="orange"
          variant="outline"
          title={`${listed(shown.signs_again)} ${shown.signs_again.length === 1 ? 'has' : 'have'} to sign again`}
        >
          What they have signed counts no more: their key or passkey was replaced, or its time is over.
          {!shown.is_waiting &&
            ' It was approved, and nothing is sent until the signer has enough signatures.'}{' '}
          Another approver's signature counts as well.
        </Alert>
      )}
      <Facts
        facts={[
          ['Network', NETWORK_NAMES[shown.network]],
          ['Recipients', shown.count],
          ['Sum', amountText(Number(shown.total), shown.currency)],
          [
            'Digest',
            <span key="digest" className="digest">
              {shown.digest}
            </span>,
          ],
        ]}
      />
      {shown.recipients.some(isMarked) && <Marked shown={shown} />}
    </Section>
  );
}

import { Anchor, Code, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Action } from '../../detail.tsx';
import { Amount, amountText, CopyId, IsoTime, NETWORK_NAMES } from '../../format.tsx';
import type { Column } from '../../list.tsx';
import { useFilters } from '../../place.ts';
import { meQuery } from '../../session.ts';
import { WholeList } from '../../whole-list.tsx';
import { Alone } from './alone.tsx';
import { OPERATOR, useOperates } from './place.ts';

type Decision = 'release' | 'keep';

interface Decided {
  user_id: string;
  email: string;
  decision: Decision;
  at: string | null;
}

interface Seizure {
  cursor: string;
  merchant: { merchant_id: string; name: string; mode: string };
  store_id: string;
  payment_id: string;
  tx_id: string;
  network: string;
  currency: string;
  amount: number;
  sender: string;
  final_at: string | null;
  decisions: Decided[];
}

const SEEN: readonly Column<Seizure>[] = [
  { title: 'Final since', cell: ({ final_at }) => <IsoTime at={final_at} /> },
  {
    title: 'Merchant',
    cell: ({ merchant: { name, mode } }) => (mode === 'live' ? name : `${name} (${mode})`),
  },
  {
    title: 'Payment',
    cell: ({ merchant, store_id, payment_id }) => (
      <Anchor component={Link} size="sm" to={`/${merchant.merchant_id}/${store_id}/payments/${payment_id}`}>
        {payment_id}
      </Anchor>
    ),
  },
  {
    title: 'Amount',
    cell: ({ amount, currency }) => <Amount units={amount} currency={currency} />,
    isNumber: true,
  },
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] ?? network },
  { title: 'From', cell: ({ sender }) => <CopyId id={sender} isShort /> },
  { title: 'Transaction', cell: ({ tx_id }) => <CopyId id={tx_id} isShort /> },
];

const QUESTIONS: Record<Decision, (amount: string, merchant: string) => string> = {
  release: (amount, merchant) =>
    `Give ${amount} to ${merchant}? You have looked at where it came from. It counts as if it arrived now, once another operator decides so too.`,
  keep: (amount, merchant) =>
    `Keep ${amount} that was paid to ${merchant}? It belongs to the installation for good, once another operator decides so too. Whoever paid gets nothing for it.`,
};

function Decide({ seizure }: { seizure: Seizure }) {
  const me = useQuery(meQuery).data;
  const { merchant, payment_id, tx_id, amount, currency, decisions } = seizure;
  const path = `${OPERATOR}/merchants/${merchant.merchant_id}/seizures/${payment_id}`;
  if (decisions.some(({ user_id }) => user_id === me?.user_id))
    return (
      <Action
        label="Withdraw"
        question="Take back what you have decided? It stays seized."
        path={`${path}/withdraw`}
        body={{ tx_id }}
        isDangerous
      />
    );
  const text = amountText(amount, currency);
  return (
    <Group gap="xs">
      {(['release', 'keep'] as const).map((decision) => (
        <Action
          key={decision}
          label={decision === 'release' ? 'Release' : 'Keep'}
          question={QUESTIONS[decision](text, merchant.name)}
          path={path}
          body={{ tx_id, decision }}
          isDangerous={decision === 'keep'}
        />
      ))}
    </Group>
  );
}

function Decisions({ seizure }: { seizure: Seizure }) {
  const operates = useOperates();
  return (
    <Stack gap="xs" align="start">
      {seizure.decisions.map(({ user_id, email, decision, at }) => (
        <Text key={user_id} size="sm">
          {email} would {decision} it, <IsoTime at={at} />
        </Text>
      ))}
      {operates && <Decide seizure={seizure} />}
    </Stack>
  );
}

const DECISION: Column<Seizure> = {
  title: 'Decision',
  cell: (seizure) => <Decisions seizure={seizure} />,
};

const MODES = [
  { value: '', label: 'Real money' },
  { value: 'sandbox', label: 'Sandboxes' },
];

const ALONE_COMMAND = 'npx florin payments release';

const NoSecond = () => (
  <Alone who="Fewer than two people have the role operator">
    two approvers of the merchant decide where the database is: <Code>{ALONE_COMMAND}</Code> or{' '}
    <Code>keep</Code>
  </Alone>
);

/** What came from addresses of the risk list. Two operators decide, as two approvers of the merchant do where the database is. */
export function SeizuresPage() {
  const { mode } = useFilters();
  const navigate = useNavigate();
  const given = mode === undefined ? {} : { mode };
  return (
    <WholeList
      title="Seized money"
      path={`${OPERATOR}/seizures`}
      filters={given}
      idOf={({ cursor }) => cursor}
      columns={[...SEEN, DECISION]}
      alone={<NoSecond />}
      notice={
        <>
          <Text size="sm">
            What an address of the risk list pays is seized: no payout and no refund takes it until two
            operators have decided the same. Look at where it came from first: what two have decided stays.
          </Text>
          <NativeSelect
            label="Show"
            data={MODES}
            value={mode ?? ''}
            onChange={({ target: { value } }) =>
              void navigate({ to: '.', search: () => (value === '' ? {} : { mode: value }) })
            }
          />
        </>
      }
      empty={
        mode === undefined
          ? 'No real money is seized that nobody has decided about.'
          : 'Nothing is seized in sandboxes that nobody has decided about.'
      }
    />
  );
}

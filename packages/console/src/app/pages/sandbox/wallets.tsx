import { NETWORKS, type Network } from '@florin/contract/money';
import type { TestAddresses } from '@florin/contract/schemas';
import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { FilteredLink } from '../../filtered-link.tsx';
import { tokensOf } from '../../form.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { CopyId, NETWORK_NAMES } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { usePlace, useSandbox } from '../../place.ts';
import { Trouble } from '../../trouble.tsx';
import { OfSandboxes } from './of-sandboxes.tsx';
import { AmountField, TokenFields, tokenOf } from './payer.tsx';

type Kind = keyof TestAddresses['erc20'];

const MEANINGS: Readonly<Record<Kind, string>> = {
  succeed: 'A payout there succeeds',
  fail: 'The transfer fails on the chain',
  stuck: 'Succeeds an hour of the clock after it was first sent',
  risk_rejected: 'Is clean when a batch is made, and on the risk list when it is submitted',
};

interface Line {
  kind: Kind;
  addresses: TestAddresses;
}

const COLUMNS: readonly Column<Line>[] = [
  { title: 'What happens', cell: ({ kind }) => MEANINGS[kind] },
  ...NETWORKS.map(
    (network: Network): Column<Line> => ({
      title: NETWORK_NAMES[network] ?? network,
      cell: ({ kind, addresses }) => <CopyId id={addresses[network][kind]} isShort />,
    }),
  ),
];

const KINDS: readonly Kind[] = ['succeed', 'fail', 'stuck', 'risk_rejected'];

const Fund = () => (
  <FormDialog
    label="Add money"
    submit="Add"
    isMain
    names={['currency', 'network', 'amount']}
    fields={(errorOf) => (
      <>
        <TokenFields errorOf={errorOf} />
        <AmountField name="amount" label="Tokens" errorOf={errorOf} isRequired />
      </>
    )}
    send={(fields) => ({
      path: '/api/v1/test_helpers/fund',
      body: { ...tokenOf(fields), amount: tokensOf(fields, 'amount') },
    })}
  />
);

function Addresses() {
  const place = usePlace();
  const query = useQuery({
    queryKey: ['test-addresses'],
    queryFn: ({ signal }) => call<TestAddresses>('/api/v1/test_helpers/addresses', { place, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const addresses = query.data;
  return (
    <>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={160} aria-label="Loading" />}
      {addresses !== undefined && (
        <Rows
          definition={{ title: 'Addresses to pay out to', columns: COLUMNS, idOf: ({ kind }) => kind }}
          rows={KINDS.map((kind) => ({ kind, addresses }))}
          place={place}
        />
      )}
    </>
  );
}

/** Wallets of the sandbox: the merchant's own, those of payers, and those of recipients. */
export function WalletsPage() {
  const isSandbox = useSandbox();
  return (
    <Stack>
      <Title order={1} size="h2">
        Wallets
      </Title>
      {isSandbox ? (
        <>
          <Section title="The merchant's">
            <Text>
              Adds to the balance, and as many coins to the wallet on the chain.{' '}
              <FilteredLink folder="balances" filters={{}} /> shows what is there.
            </Text>
            <Group>
              <Fund />
            </Group>
          </Section>
          <Section title="Payers'">
            <Text>
              The page of a{' '}
              <FilteredLink folder="payments" filters={{}}>
                payment
              </FilteredLink>{' '}
              pays it, from a new wallet if you like. That of a{' '}
              <FilteredLink folder="subscriptions" filters={{}}>
                subscription
              </FilteredLink>{' '}
              makes a wallet which gives it a mandate; that of the{' '}
              <FilteredLink folder="payment-methods" filters={{}}>
                payment method
              </FilteredLink>{' '}
              empties or fills this wallet.
            </Text>
          </Section>
          <Section title="Recipients'">
            <Text>Addresses to pay out to, by what becomes of it.</Text>
            <Addresses />
          </Section>
        </>
      ) : (
        <OfSandboxes />
      )}
    </Stack>
  );
}

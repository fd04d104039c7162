import { NETWORKS, type Network } from '@florin/contract/money';
import type { ChainHeight, SimulatedTransfer } from '@florin/contract/schemas';
import { Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, PageError, pathWith } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { textOf } from '../../form.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { Amount, CopyId, Maybe, NETWORK_NAMES, Status } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { usePlace, useSandbox } from '../../place.ts';
import { Tick } from '../../tick.tsx';
import { Trouble } from '../../trouble.tsx';
import { OfSandboxes } from './of-sandboxes.tsx';

const SHOWN = 10;
const REFRESH_MS = 5_000;
const pathOf = (network: Network) => `/api/v1/test_helpers/chains/${network}`;

const TRANSFERS: readonly Column<SimulatedTransfer>[] = [
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amount, currency }) =>
      currency === null ? `${amount} of another token` : <Amount units={amount} currency={currency} />,
  },
  { title: 'Block', isNumber: true, cell: ({ height }) => height },
  { title: 'State', cell: ({ final }) => <Status name={final ? 'final' : 'not final'} /> },
  { title: 'From', cell: ({ from }) => <CopyId id={from} isShort /> },
  { title: 'To', cell: ({ to }) => <CopyId id={to} isShort /> },
  { title: 'Transaction', cell: ({ tx_id }) => <CopyId id={tx_id} isShort /> },
];

/** A whole number of a form. @throws PageError */
function countOf(fields: FormData, name: string): number {
  const count = Number(textOf(fields, name).trim());
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new PageError('A whole number.', name);
}

interface Order {
  label: string;
  submit: string;
  /** Of the API's parameter. */
  name: string;
  field: string;
  first: string;
  extra?: React.ReactNode;
}

const ORDERS: readonly Order[] = [
  { label: 'Mine', submit: 'Mine', name: 'mine', field: 'Blocks', first: '3' },
  {
    label: 'Reorganise',
    submit: 'Reorganise',
    name: 'reorg',
    field: 'Newest blocks to replace',
    first: '1',
    extra: <Tick name="remine" label="What payers sent is in the newest block again, and not gone" />,
  },
  {
    label: 'Outage',
    submit: 'Begin',
    name: 'outage_seconds',
    field: 'Seconds for which nothing is seen or sent (0 ends one)',
    first: '60',
  },
  {
    label: 'Lose broadcasts',
    submit: 'Lose them',
    name: 'drop_next',
    field: 'How many of the next ones',
    first: '1',
  },
];

function Controls({ network, done }: { network: Network; done: (height: ChainHeight) => void }) {
  return (
    <Group gap="xs">
      {ORDERS.map(({ label, submit, name, field, first, extra }) => (
        <FormDialog
          key={name}
          label={label}
          title={`${label}: ${NETWORK_NAMES[network]}`}
          submit={submit}
          names={[name]}
          fields={(errorOf) => (
            <>
              <TextInput
                name={name}
                label={field}
                inputMode="numeric"
                defaultValue={first}
                error={errorOf(name)}
                required
                data-autofocus
              />
              {extra}
            </>
          )}
          send={(fields) => ({
            path: pathOf(network),
            body: { [name]: countOf(fields, name), ...(fields.has('remine') ? { remine: true } : {}) },
          })}
          done={(answer) => done(answer as ChainHeight)}
        />
      ))}
    </Group>
  );
}

function Chain({ network }: { network: Network }) {
  const place = usePlace();
  const [height, setHeight] = useState<ChainHeight>();
  const transfers = useQuery({
    queryKey: ['simulated', place.merchant, network],
    queryFn: ({ signal }) =>
      call<{ data: SimulatedTransfer[] }>(pathWith(`${pathOf(network)}/transfers`, { limit: SHOWN }), {
        place,
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });
  const rows = transfers.data?.data ?? [];
  const title = NETWORK_NAMES[network] ?? network;
  return (
    <Section title={title}>
      <Controls network={network} done={setHeight} />
      {height !== undefined && (
        <Text role="status">
          Block {height.height} is the newest, block {height.final_height} is final.
        </Text>
      )}
      {transfers.error !== null && <Trouble error={transfers.error} />}
      {transfers.isSuccess && rows.length === 0 && <Maybe>Nothing was ever sent on this chain.</Maybe>}
      {rows.length > 0 && (
        <Rows
          definition={{ title: `Newest transfers on ${title}`, columns: TRANSFERS, idOf: ({ id }) => id }}
          rows={rows}
          place={place}
        />
      )}
    </Section>
  );
}

/** The simulated chains of the merchant, and what may go wrong on them. */
export function ChainsPage() {
  const isSandbox = useSandbox();
  return (
    <Stack>
      <Title order={1} size="h2">
        Chains
      </Title>
      {isSandbox ? (
        <>
          <Text>
            Three chains of this merchant alone. Each makes a block a second of its clock; with three blocks
            what it holds is final. Below: the newest {SHOWN} transfers that each one has, whoever sent them.
          </Text>
          {NETWORKS.map((network) => (
            <Chain key={network} network={network} />
          ))}
        </>
      ) : (
        <OfSandboxes />
      )}
    </Stack>
  );
}

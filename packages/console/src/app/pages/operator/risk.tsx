import { NativeSelect, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Action } from '../../detail.tsx';
import { textOf } from '../../form.ts';
import { AddressField, FormDialog } from '../../form-dialog.tsx';
import { CopyId, NETWORK_NAMES } from '../../format.tsx';
import { type Column, Filters } from '../../list.tsx';
import { useFilters } from '../../place.ts';
import { WholeList } from '../../whole-list.tsx';
import { OPERATOR, useOperates } from './place.ts';

const PATH = `${OPERATOR}/risk-list`;

interface Listed {
  network: string;
  address: string;
  reason: string;
}

const SEEN: readonly Column<Listed>[] = [
  { title: 'Address', cell: ({ address }) => <CopyId id={address} /> },
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] ?? network },
  { title: 'Reason', cell: ({ reason }) => reason },
];

const CHANGED: Column<Listed> = {
  title: 'Changes',
  cell: ({ network, address }) => (
    <Action
      label="Remove"
      question={`Take ${address} off the list? What was seized from it stays seized.`}
      path={`${PATH}/remove`}
      body={{ network, address }}
      isDangerous
    />
  ),
};

const AddAddress = () => (
  <FormDialog
    label="Add address"
    submit="Add"
    isMain
    names={['network', 'address', 'reason']}
    fields={(errorOf) => (
      <>
        <NativeSelect
          name="network"
          label="Network"
          error={errorOf('network')}
          data={Object.entries(NETWORK_NAMES).map(([value, label]) => ({ value, label }))}
        />
        <AddressField errorOf={errorOf} />
        <TextInput name="reason" label="Reason" maxLength={500} error={errorOf('reason')} required />
      </>
    )}
    send={(fields) => ({
      path: PATH,
      body: {
        network: textOf(fields, 'network'),
        address: textOf(fields, 'address').trim(),
        reason: textOf(fields, 'reason').trim(),
      },
    })}
  />
);

/** Addresses that get nothing, and whose money is seized. */
export function RiskPage() {
  const operates = useOperates();
  const navigate = useNavigate();
  const { address } = useFilters();
  const show = (search: Record<string, string>) => void navigate({ to: '.', search: () => search });
  return (
    <WholeList
      title="Risk list"
      path={PATH}
      idOf={({ network, address }) => `${network} ${address}`}
      columns={operates ? [...SEEN, CHANGED] : SEEN}
      actions={operates && <AddAddress />}
      filters={address === undefined ? undefined : { address }}
      notice={
        <Filters
          filters={[{ name: 'address', label: 'Find an address' }]}
          given={address === undefined ? {} : { address }}
          set={(name, value) => show(value === '' ? {} : { [name]: value })}
        />
      }
      empty={
        address !== undefined
          ? 'This address is not listed.'
          : {
              text: 'No address is listed. One that is gets no payout and no refund, and what it sends is seized. Add it here, or so:',
              command: 'npx florin risk add erc20 0x… --reason "Sanctions"',
            }
      }
    />
  );
}

import type { Customer } from '@florin/contract/schemas';
import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { LISTS } from '../ahead.ts';
import { PageError } from '../api.ts';
import { textOf } from '../form.ts';
import { type ErrorOf, FormDialog } from '../form-dialog.tsx';
import { usePlace } from '../place.ts';

const PATH = LISTS.customers;

const DETAILS = [
  { name: 'name', label: 'Name (optional)', max: 200 },
  { name: 'email', label: 'E-mail (optional)', max: 254, type: 'email' },
  { name: 'phone', label: 'Phone (optional)', max: 50, type: 'tel' },
  { name: 'description', label: 'Description, for yourself (optional)', max: 500 },
] as const;

const NAMES = DETAILS.map(({ name }) => name);

const DetailFields = ({ customer, errorOf }: { customer?: Customer; errorOf: ErrorOf }) =>
  DETAILS.map(({ name, label, max, ...input }) => (
    <TextInput
      key={name}
      name={name}
      label={label}
      maxLength={max}
      autoComplete="off"
      defaultValue={customer?.[name] ?? ''}
      error={errorOf(name)}
      {...input}
    />
  ));

/** What differs from the customer as it is. @throws PageError for a value that was emptied, as the API only replaces them */
function changesOf(fields: FormData, customer?: Customer): Record<string, string> {
  const changed = NAMES.flatMap((name) => {
    const [typed, before] = [textOf(fields, name).trim(), customer?.[name] ?? ''];
    if (typed === before) return [];
    if (typed === '' && name !== 'description')
      throw new PageError('This can be replaced, and not be taken away.', name);
    return [[name, typed] as const];
  });
  return Object.fromEntries(changed);
}

export function NewCustomer() {
  const { merchant, store } = usePlace();
  const navigate = useNavigate();
  return (
    <FormDialog
      label="New customer"
      submit="Create"
      isMain
      names={['external_customer_id', ...NAMES]}
      fields={(errorOf) => (
        <>
          <TextInput
            name="external_customer_id"
            label="Your id of the customer"
            description="Sessions and subscriptions name the customer by it. It never changes."
            maxLength={128}
            autoComplete="off"
            error={errorOf('external_customer_id')}
            required
            data-autofocus
          />
          <DetailFields errorOf={errorOf} />
        </>
      )}
      send={(fields) => ({
        path: `${PATH}/create`,
        body: {
          external_customer_id: textOf(fields, 'external_customer_id').trim(),
          ...changesOf(fields),
        },
      })}
      done={(answer) => {
        const { id }: Customer = Object(answer);
        void navigate({ to: `/${merchant}/${store}/customers/${id}` });
      }}
    />
  );
}

export const EditCustomer = ({ customer }: { customer: Customer }) => (
  <FormDialog
    label="Edit…"
    title="Edit the customer"
    submit="Save"
    names={NAMES}
    fields={(errorOf) => <DetailFields customer={customer} errorOf={errorOf} />}
    send={(fields) => ({
      path: `${PATH}/${encodeURIComponent(customer.id)}/update`,
      body: changesOf(fields, customer),
    })}
  />
);

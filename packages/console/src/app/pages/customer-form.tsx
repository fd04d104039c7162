import type { Customer } from '@florin/contract/schemas';
import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { LISTS } from '../ahead.ts';
import { PageError } from '../api.ts';
import { EditDialog } from '../edit-dialog.tsx';
import { textOf, textsOf, type Values } from '../form.ts';
import { type ErrorOf, FormDialog } from '../form-dialog.tsx';
import { usePlace } from '../place.ts';

const PATH = LISTS.customers;

const DETAILS = [
  { name: 'name', label: 'Name (optional)', what: 'Name', max: 200, type: 'text' },
  { name: 'email', label: 'E-mail (optional)', what: 'E-mail', max: 254, type: 'email' },
  { name: 'phone', label: 'Phone (optional)', what: 'Phone', max: 50, type: 'tel' },
  {
    name: 'description',
    label: 'Description, for yourself (optional)',
    what: 'Description',
    max: 500,
    type: 'text',
  },
] as const;

const NAMES = DETAILS.map(({ name }) => name);

type Detail = (typeof DETAILS)[number]['name'];
const LABELS = Object.fromEntries(DETAILS.map(({ name, what }) => [name, what])) as Values<Detail>;

const DetailFields = ({ values, errorOf }: { values?: Values<Detail>; errorOf: ErrorOf }) =>
  DETAILS.map(({ name, label, max, type }) => (
    <TextInput
      key={name}
      name={name}
      type={type}
      label={label}
      maxLength={max}
      autoComplete="off"
      defaultValue={values?.[name] ?? ''}
      error={errorOf(name)}
    />
  ));

const NOTHING: Values<Detail> = { name: '', email: '', phone: '', description: '' };

/** What was changed. @throws PageError for a value that was emptied, as the API only replaces them */
function changesOf(typed: Values<Detail>, before = NOTHING): Record<string, string> {
  const changed = NAMES.filter((name) => typed[name] !== before[name]);
  for (const name of changed)
    if (typed[name] === '' && name !== 'description')
      throw new PageError('This can be replaced, and not be taken away.', name);
  return Object.fromEntries(changed.map((name) => [name, typed[name]]));
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
          ...changesOf(textsOf(fields, NAMES)),
        },
      })}
      done={(answer) => {
        const { id }: Customer = Object(answer);
        void navigate({ to: `/${merchant}/${store}/customers/${id}` });
      }}
    />
  );
}

export function EditCustomer({ customer }: { customer: Customer }) {
  const path = `${PATH}/${encodeURIComponent(customer.id)}`;
  return (
    <EditDialog
      label="Edit…"
      title="Edit the customer"
      subject={customer}
      path={path}
      labels={LABELS}
      valuesOf={({ name, email, phone, description }) => ({
        name: name ?? '',
        email: email ?? '',
        phone: phone ?? '',
        description: description ?? '',
      })}
      fields={(errorOf, values) => <DetailFields values={values} errorOf={errorOf} />}
      send={(typed, before) => ({ path: `${path}/update`, body: changesOf(typed, before) })}
    />
  );
}

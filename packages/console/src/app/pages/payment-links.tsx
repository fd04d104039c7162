import { CURRENCIES, parsePrice } from '@florin/contract/currencies';
import type { PaymentLink } from '@florin/contract/schemas';
import { NativeSelect, TextInput } from '@mantine/core';
import { PageError } from '../api.ts';
import { Action } from '../detail.tsx';
import { textOf } from '../form.ts';
import { FormDialog } from '../form-dialog.tsx';
import { Amount, CopyId, Maybe, Status, Time } from '../format.tsx';
import { type Column, List, type ListDefinition } from '../list.tsx';
import { useMay } from '../place.ts';

const PATH = '/api/v1/payment_links';

const SEEN: readonly Column<PaymentLink>[] = [
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amount, currency }) =>
      amount === null ? `the payer says, in ${currency}` : <Amount units={amount} currency={currency} />,
  },
  { title: 'Description', cell: ({ description }) => <Maybe>{description}</Maybe> },
  { title: 'Status', cell: ({ active }) => <Status name={active ? 'active' : 'disabled'} /> },
  { title: 'Link', cell: ({ url }) => <CopyId id={url} /> },
  { title: 'Created', cell: ({ created }) => <Time at={created} /> },
];

const CHANGED: Column<PaymentLink> = {
  title: 'Changes',
  cell: ({ id, active }) => (
    <Action
      label={active ? 'Switch off' : 'Switch on'}
      question={
        active
          ? 'Switch this link off? Whoever opens it cannot pay; sessions that it has made go on.'
          : 'Switch this link on again?'
      }
      path={`${PATH}/${encodeURIComponent(id)}/update`}
      body={{ active: !active }}
      isDangerous={active}
    />
  ),
};

const definitionWith = (columns: readonly Column<PaymentLink>[]): ListDefinition<PaymentLink> => ({
  title: 'Payment links',
  path: PATH,
  idOf: ({ id }) => id,
  columns,
  filters: [],
  empty: {
    text: 'No payment links yet: each is a page that payers open as often as they like. Make one here, or so:',
    command: 'npx florin links create 12.50 USD --description "A ticket"',
  },
});

/** What was typed as the API takes it: without an amount the payer says how much. @throws PageError */
function bodyOf(fields: FormData): object {
  const currency = textOf(fields, 'currency');
  const description = textOf(fields, 'description').trim();
  const typed = textOf(fields, 'amount').trim();
  return {
    currency,
    ...(description === '' ? {} : { description }),
    ...(typed === '' ? { open: true } : { amount: unitsOf(typed, currency) }),
  };
}

function unitsOf(typed: string, currency: string): number {
  try {
    return Number(parsePrice(typed, currency));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PageError(`This is not an amount: ${error.message}, such as 12.50 or 12.`, 'amount');
  }
}

const NewLink = () => (
  <FormDialog
    label="New link"
    submit="Create"
    isMain
    names={['amount', 'currency', 'description']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="amount"
          label="Amount (empty: the payer says how much)"
          inputMode="decimal"
          error={errorOf('amount')}
          autoComplete="off"
          data-autofocus
        />
        <NativeSelect
          name="currency"
          label="Currency"
          data={[...CURRENCIES]}
          defaultValue="USD"
          error={errorOf('currency')}
        />
        <TextInput
          name="description"
          label="Description, for the payer"
          maxLength={500}
          error={errorOf('description')}
          autoComplete="off"
        />
      </>
    )}
    send={(fields) => ({ path: PATH, body: bodyOf(fields) })}
  />
);

export function PaymentLinksPage() {
  const mayEdit = useMay('edit_checkout');
  return (
    <List definition={definitionWith(mayEdit ? [...SEEN, CHANGED] : SEEN)} actions={mayEdit && <NewLink />} />
  );
}

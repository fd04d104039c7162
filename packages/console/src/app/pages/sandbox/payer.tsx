import { NativeSelect, TextInput } from '@mantine/core';
import { textOf, tokensOf } from '../../form.ts';
import { AddressField, type ErrorOf, FormDialog } from '../../form-dialog.tsx';
import { NETWORK_NAMES } from '../../format.tsx';
import { useSandbox } from '../../place.ts';
import { Tick } from '../../tick.tsx';

/*
 * What payers do, played in a sandbox. Each is shown there alone, and refused for real money by the service as well.
 */

const HELPERS = '/api/v1/test_helpers';

export const TokenFields = ({ errorOf }: { errorOf: ErrorOf }) => (
  <>
    <NativeSelect name="currency" label="Token" data={['USDT', 'USDC']} error={errorOf('currency')} />
    <NativeSelect
      name="network"
      label="Network"
      error={errorOf('network')}
      data={Object.entries(NETWORK_NAMES).map(([value, label]) => ({ value, label }))}
    />
  </>
);

export const tokenOf = (fields: FormData) => ({
  currency: textOf(fields, 'currency'),
  network: textOf(fields, 'network'),
});

interface AmountFieldProps {
  name: string;
  label: string;
  errorOf: ErrorOf;
  isRequired?: boolean;
}

export const AmountField = ({ name, label, errorOf, isRequired = false }: AmountFieldProps) => (
  <TextInput
    name={name}
    label={label}
    inputMode="decimal"
    autoComplete="off"
    error={errorOf(name)}
    required={isRequired}
  />
);

/** A field of a body that is left out where nothing was typed. */
const given = (name: string, value: number | undefined) => (value === undefined ? {} : { [name]: value });

const SENDERS = [
  { value: '', label: 'the usual wallet' },
  { value: 'new', label: 'a new wallet' },
  { value: 'sanctioned', label: 'a wallet on the risk list' },
];

/** Sends money for a payment, from a wallet of the simulated chain. */
export function PayAsPayer({ session }: { session: string }) {
  if (!useSandbox()) return null;
  return (
    <FormDialog
      label="Pay as the payer"
      submit="Send"
      names={['currency', 'network', 'amount', 'from']}
      fields={(errorOf) => (
        <>
          <TokenFields errorOf={errorOf} />
          <AmountField name="amount" label="Tokens (empty: what is left to pay)" errorOf={errorOf} />
          <NativeSelect name="from" label="From" data={SENDERS} error={errorOf('from')} />
          <Tick name="seen" label="Leave it in its first block, not final yet" />
        </>
      )}
      send={(fields) => {
        const from = textOf(fields, 'from');
        return {
          path: `${HELPERS}/checkout/sessions/${encodeURIComponent(session)}/pay`,
          body: {
            ...tokenOf(fields),
            ...given('amount', tokensOf(fields, 'amount')),
            ...(from === '' ? {} : { from }),
            final: !fields.has('seen'),
          },
        };
      }}
    />
  );
}

/** Gives a mandate to a subscription, from a new wallet. */
export function AuthorizeAsPayer({ subscription }: { subscription: string }) {
  if (!useSandbox()) return null;
  return (
    <FormDialog
      label="Give a mandate as the payer"
      submit="Give it"
      names={['currency', 'network', 'cap', 'balance']}
      fields={(errorOf) => (
        <>
          <TokenFields errorOf={errorOf} />
          <AmountField
            name="balance"
            label="What the new wallet holds (empty: 1,000,000)"
            errorOf={errorOf}
          />
          <AmountField
            name="cap"
            label="What may be charged a period (empty: ten times the price)"
            errorOf={errorOf}
          />
        </>
      )}
      send={(fields) => ({
        path: `${HELPERS}/subscriptions/${encodeURIComponent(subscription)}/authorize`,
        body: {
          ...tokenOf(fields),
          ...given('cap', tokensOf(fields, 'cap')),
          ...given('balance', tokensOf(fields, 'balance')),
        },
      })}
    />
  );
}

/** Says where a refund goes, as behind its claim link. */
export function ClaimAsPayer({ refund }: { refund: string }) {
  if (!useSandbox()) return null;
  return (
    <FormDialog
      label="Claim as the payer"
      submit="Claim"
      names={['address']}
      fields={(errorOf) => <AddressField errorOf={errorOf} />}
      send={(fields) => ({
        path: `${HELPERS}/refunds/${encodeURIComponent(refund)}/claim`,
        body: { address: textOf(fields, 'address').trim() },
      })}
    />
  );
}

/** Changes the wallet behind a payment method: so that its next charge fails, or works again. */
export function ChangeWallet({ method }: { method: string }) {
  if (!useSandbox()) return null;
  return (
    <FormDialog
      label="Change the payer's wallet"
      submit="Change"
      names={['balance', 'allowance']}
      fields={(errorOf) => (
        <>
          <AmountField name="balance" label="What it holds (empty: as it is)" errorOf={errorOf} />
          <AmountField
            name="allowance"
            label="What it allows to be charged (empty: as it is)"
            errorOf={errorOf}
          />
          <Tick name="revoked" label="The payer takes the mandate back, for good" />
          <Tick name="unnoticed" label="Florin is not told: it finds out by itself, as on a real chain" />
        </>
      )}
      send={(fields) => ({
        path: `${HELPERS}/payment_methods/${encodeURIComponent(method)}`,
        body: {
          ...given('balance', tokensOf(fields, 'balance')),
          ...given('allowance', tokensOf(fields, 'allowance')),
          ...(fields.has('revoked') ? { revoked: true } : {}),
          ...(fields.has('unnoticed') ? { unnoticed: true } : {}),
        },
      })}
    />
  );
}

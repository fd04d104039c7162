import type { PortalSession } from '@florin/contract/schemas';
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { textOf } from '../form.ts';
import { FormDialog } from '../form-dialog.tsx';
import { CopyId, Time } from '../format.tsx';
import { useMay } from '../place.ts';

/**
 * Makes a link to a customer's portal and shows it once. People without the permission get no button.
 *
 * @param customer the merchant's own id of the customer
 */
export function PortalLink({ customer }: { customer: string }) {
  const may = useMay('edit_checkout');
  const [made, setMade] = useState<PortalSession>();
  if (!may) return null;
  return (
    <>
      <FormDialog
        label="Portal link…"
        title="Portal link"
        submit="Make the link"
        names={['return_url']}
        fields={(errorOf) => (
          <>
            <Text size="sm">
              Whoever has the link sees the subscriptions, invoices and receipts of this customer, replaces
              the wallet, and cancels. Send it to nobody else.
            </Text>
            <TextInput
              name="return_url"
              type="url"
              label="Where the customer may go from there"
              placeholder="https://shop.example/account"
              autoComplete="url"
              error={errorOf('return_url')}
              required
              data-autofocus
            />
          </>
        )}
        send={(fields) => ({
          path: '/api/v1/portal/sessions',
          body: { customer, return_url: textOf(fields, 'return_url').trim() },
        })}
        done={(answer) => {
          const session: PortalSession = Object(answer);
          setMade(session);
        }}
      />
      <Modal
        opened={made !== undefined}
        onClose={() => setMade(undefined)}
        title="Portal link"
        lockScroll={false}
      >
        {made !== undefined && (
          <Stack>
            <Text size="sm">
              For this customer alone, until <Time at={made.expires_at} />. It is shown this once.
            </Text>
            <CopyId id={made.url} />
          </Stack>
        )}
      </Modal>
    </>
  );
}

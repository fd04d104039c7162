import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ApiError, PageError } from './api.ts';
import { useChange } from './detail.tsx';
import { Trouble } from './trouble.tsx';

type Sent = ReturnType<Parameters<typeof useChange<FormData>>[0]>;

/** What the service says of a field. */
export type ErrorOf = (name: string) => string | undefined;

interface FormDialogProps {
  /** Of the button that opens it, and its title unless that is another one. */
  label: string;
  title?: string;
  submit: string;
  isMain?: boolean;
  /** Fields of the form; what the service says of one of them stands beside it. */
  names: readonly string[];
  fields: (errorOf: ErrorOf) => ReactNode;
  /** @param formId new each time the dialog is opened, the same however often it is sent */
  send: (fields: FormData, formId: string) => Sent;
  /** Is given the answer once it is done. */
  done?: (answer: unknown) => void;
}

/** A change that takes some fields, in a dialog. */
export function FormDialog({
  label,
  title = label,
  submit,
  isMain = false,
  names,
  fields,
  send,
  done,
}: FormDialogProps) {
  const [formId, setFormId] = useState('');
  const { mutate, isPending, error, reset } = useChange((given: FormData) => send(given, formId));
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setFormId(crypto.randomUUID());
    setOpen(true);
  };
  const close = () => {
    setOpen(false);
    reset();
  };
  const param = error instanceof ApiError || error instanceof PageError ? error.param : undefined;
  const beside = names.find((name) => name === param);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const onSuccess = (answer: unknown) => {
      close();
      done?.(answer);
    };
    mutate(new FormData(event.currentTarget), { onSuccess });
  };
  return (
    <>
      <Button variant={isMain ? 'filled' : 'default'} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} lockScroll={false}>
        <form onSubmit={onSubmit}>
          <Stack>
            {fields((name) => (name === beside ? error?.message : undefined))}
            {error !== null && beside === undefined && <Trouble error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Back
              </Button>
              <Button type="submit" loading={isPending}>
                {submit}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

/** The address that a dialog is about. */
export const AddressField = ({ errorOf }: { errorOf: ErrorOf }) => (
  <TextInput
    name="address"
    label="Address"
    autoComplete="off"
    error={errorOf('address')}
    required
    data-autofocus
  />
);

import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { type Sent, useChange } from './detail.tsx';
import { fieldOf } from './form.ts';
import { Trouble } from './trouble.tsx';
import { mayLeave, useUnsaved } from './unsaved.ts';

/** What the service says of a field. */
export type ErrorOf = (name: string) => string | undefined;

interface FormDialogProps {
  /** Of the button that opens it, and its title unless that is another one. */
  label: string;
  title?: string;
  submit: string;
  isMain?: boolean;
  /** Whether it can be opened. One that is open stays until it is closed, and a change that is under way leads on from it. */
  isOffered?: boolean;
  /** Fields of the form; what the service says of one of them stands beside it. */
  names: readonly string[];
  fields: (errorOf: ErrorOf) => ReactNode;
  /**
   * What is sent, with an idempotency key: an answer that is lost makes nothing twice.
   *
   * @param formId that key: new each time the dialog is opened, the same however often it is sent
   * @returns undefined where nothing is left to send
   */
  send: (fields: FormData, formId: string) => Sent | Promise<Sent | undefined>;
  /** Called when a person opens it. */
  opened?: () => void;
  /** Is given the answer once it is done, and what was sent. */
  done?: (answer: unknown, fields: FormData) => void;
}

function AskFirst({ isUnsaved }: { isUnsaved: () => boolean }) {
  useUnsaved(isUnsaved);
  return null;
}

/** A change that takes some fields, in a dialog. */
export function FormDialog({
  label,
  title = label,
  submit,
  isMain = false,
  isOffered = true,
  names,
  fields,
  send,
  opened,
  done,
}: FormDialogProps) {
  const [formId, setFormId] = useState('');
  const { mutate, isPending, error, reset } = useChange(async (given: FormData) => {
    const sent = await send(given, formId);
    return sent && { idempotencyKey: formId, ...sent };
  });
  const [isOpen, setOpen] = useState(false);
  const isTyped = useRef(false);
  const open = () => {
    setFormId(crypto.randomUUID());
    opened?.();
    setOpen(true);
  };
  const close = () => {
    isTyped.current = false;
    setOpen(false);
    reset();
  };
  const beside = fieldOf(error, names);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const onSuccess = (answer: unknown) => {
      close();
      done?.(answer, given);
    };
    mutate(given, { onSuccess });
  };
  return (
    <>
      {isOffered && (
        <Button variant={isMain ? 'filled' : 'default'} onClick={open}>
          {label}
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={() => mayLeave(isTyped.current) && close()}
        title={title}
        lockScroll={false}
      >
        <AskFirst isUnsaved={() => isTyped.current} />
        <form
          onSubmit={onSubmit}
          onInput={() => {
            isTyped.current = true;
          }}
        >
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

/** The field `seen`: what stood on the page when the dialog was opened. What somebody changes meanwhile is not overwritten by it. */
export function Seen({ value }: { value: string }) {
  const [first] = useState(value);
  return <input type="hidden" name="seen" value={first} />;
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

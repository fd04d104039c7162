import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { answerProofsBy, call } from './api.ts';
import { textOf } from './form.ts';
import { Trouble } from './trouble.tsx';

type Answer = (isGiven: boolean) => void;

/** Asks for password and code where a change wants a fresh proof; the change then goes on. */
export function ProofDialog() {
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<unknown>();
  useEffect(() => answerProofsBy(() => new Promise<boolean>((resolve) => setAnswer(() => resolve))), []);
  const close = (isGiven: boolean) => {
    answer?.(isGiven);
    setAnswer(undefined);
    setError(undefined);
  };
  const prove = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const code = textOf(fields, 'code').trim();
    const body = { password: textOf(fields, 'password'), ...(code === '' ? {} : { code }) };
    try {
      await call('/console/api/proof', { method: 'POST', body });
      close(true);
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <Modal
      opened={answer !== undefined}
      onClose={() => close(false)}
      title="Is it you?"
      lockScroll={false}
      zIndex={400}
    >
      <form onSubmit={(event) => void prove(event)}>
        <Stack>
          <Text size="sm">This change asks for your password and the code of your authenticator app.</Text>
          <TextInput
            type="password"
            name="password"
            label="Password"
            autoComplete="current-password"
            required
            data-autofocus
          />
          <TextInput name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" />
          {error !== undefined && <Trouble error={error} />}
          <Button type="submit">Go on</Button>
        </Stack>
      </form>
    </Modal>
  );
}

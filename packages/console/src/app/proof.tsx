import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { answerProofsBy, call } from './api.ts';
import { fieldOf, textOf } from './form.ts';
import { answerOfPasskey, hasPasskeys, type PasskeyOptions } from './passkey.ts';
import { Trouble } from './trouble.tsx';

type Answer = (isGiven: boolean) => void;

/** Asks for password and code, or a passkey, where a change wants a fresh proof; the change then goes on. */
export function ProofDialog() {
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => answerProofsBy(() => new Promise<boolean>((resolve) => setAnswer(() => resolve))), []);
  const close = (isGiven: boolean) => {
    answer?.(isGiven);
    setAnswer(undefined);
    setError(null);
  };
  const prove = async (send: () => Promise<unknown>) => {
    setError(null);
    try {
      await send();
      close(true);
    } catch (refused) {
      setError(refused instanceof Error ? refused : new Error(String(refused)));
    }
  };
  const byPassword = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const code = textOf(fields, 'code').trim();
    const body = { password: textOf(fields, 'password'), ...(code === '' ? {} : { code }) };
    void prove(() => call('/console/api/proof', { method: 'POST', body }));
  };
  const byPasskey = async () => {
    const path = '/console/api/proof/passkey';
    const { options } = await call<{ options: PasskeyOptions }>(`${path}/options`, { method: 'POST' });
    await call(path, { method: 'POST', body: { credential: await answerOfPasskey(options) } });
  };
  const beside = fieldOf(error, ['password']);
  return (
    <Modal
      opened={answer !== undefined}
      onClose={() => close(false)}
      title="Is it you?"
      lockScroll={false}
      zIndex={400}
    >
      <form onSubmit={byPassword}>
        <Stack>
          <Text size="sm">
            This change asks for your password and the code of your authenticator app, or for a passkey.
          </Text>
          <TextInput
            type="password"
            name="password"
            label="Password"
            autoComplete="current-password"
            error={beside && error?.message}
            errorProps={{ role: 'alert' }}
            required
            data-autofocus
          />
          <TextInput name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" />
          {error !== null && beside === undefined && <Trouble error={error} />}
          <Button type="submit">Go on</Button>
          {hasPasskeys() && (
            <Button variant="default" onClick={() => void prove(byPasskey)}>
              Use a passkey
            </Button>
          )}
        </Stack>
      </form>
    </Modal>
  );
}

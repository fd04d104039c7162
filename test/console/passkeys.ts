import { makeAuthenticator } from '../../packages/server/src/console/accounts/test-authenticator.ts';
import type { TestService } from '../service.ts';
import type { Person } from './people.ts';

/** A person's passkey. */
export async function addPasskey(service: TestService, person: Person) {
  const authenticator = makeAuthenticator();
  await service.app.db
    .insertInto('console_passkey')
    .values({
      ...authenticator.kept,
      user_id: person.userId,
      name: 'Key',
      counter: 3,
      created_at_ms: 0,
      used_at_ms: null,
    })
    .execute();
  return authenticator;
}

/** What differs from an honest answer: what the authenticator is told, what is sent, which decision is asked for. */
export interface PasskeyAnswer {
  decision?: string;
  said?: object;
  sent?: object;
  asked?: string;
}

interface Decided {
  by: Person;
  authenticator: ReturnType<typeof makeAuthenticator>;
  /** Of the batch or refund, in the console's API. */
  path: string;
}

/** Decides as the page does: what is signed is asked for, and the passkey answers it. @returns status, and state or error */
export async function decideByPasskey(
  baseUrl: string,
  { by, authenticator, path }: Decided,
  { decision = 'approved', ...change }: PasskeyAnswer,
) {
  const asked = await by.call(`${path}/decision/options?decision=${change.asked ?? decision}`);
  if (asked.status !== 200) return [asked.status, Object(asked.body).error?.message];
  const { options, valid_until }: { options: { challenge: string }; valid_until: number } = Object(
    asked.body,
  );
  const said = { challenge: options.challenge, origin: baseUrl.replace('127.0.0.1', 'localhost') };
  const credential = authenticator.get({ ...said, ...change.said });
  const { status, body } = await by.call(`${path}/decision/passkey`, {
    method: 'POST',
    body: { decision, valid_until, credential, ...change.sent },
  });
  return [status, status === 200 ? body.status : Object(body).error?.message];
}

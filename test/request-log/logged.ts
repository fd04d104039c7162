import { expect } from 'vitest';
import { findRequest, type LoggedRequestDetails } from '../../packages/server/src/request-log/index.ts';
import type { TestService } from '../service.ts';

/** The logged request of an answer, once it is written. */
export async function loggedOf(
  { app }: TestService,
  answer: { headers: Headers },
): Promise<LoggedRequestDetails> {
  const id = answer.headers.get('x-request-id') ?? '';
  let found: LoggedRequestDetails | undefined;
  await expect
    .poll(
      async () => {
        found = await findRequest(app.db, id);
        return found !== undefined;
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  if (found === undefined) throw new Error('polled until it was there');
  return found;
}

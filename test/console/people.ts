import { sql } from 'kysely';
import { expect } from 'vitest';
import type { App } from '../../packages/server/src/app.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import type { TestService } from '../service.ts';

const PASSWORD = 'gravel-otter-lantern';

/** What a page sends with each call of the API. */
export interface PageOptions {
  method?: string | undefined;
  body?: object | undefined;
  headers?: Record<string, string | undefined> | undefined;
}

export interface Person {
  email: string;
  userId: string;
  cookie: string;
  csrf: string;
  /** Calls the API as a page does that was opened for that merchant and store. */
  call(
    path: string,
    options?: PageOptions,
  ): Promise<{ status: number; body: Record<string, never>; text: string }>;
}

/** The headers of a page. */
export const pageHeaders = (
  { baseUrl }: Pick<TestService, 'baseUrl'>,
  { cookie, csrf }: Pick<Person, 'cookie' | 'csrf'>,
  place: { merchantId: string; storeId: string },
  method = 'GET',
): Record<string, string> => ({
  cookie,
  'x-csrf-token': csrf,
  'x-service-merchant': encodeId('merchant', place.merchantId),
  'x-service-store': encodeId('store', place.storeId),
  ...(method === 'GET' ? {} : { origin: baseUrl }),
});

const textsOf = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

export async function callAsPage(
  service: Pick<TestService, 'baseUrl'>,
  path: string,
  headers: Record<string, string | undefined>,
  { method = 'GET', body }: PageOptions = {},
) {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { ...textsOf(headers), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text, headers: response.headers };
}

let people = 0;

/**
 * Somebody with a role, who is signed in and has given their second factor.
 *
 * @param place that their pages are opened for
 * @param merchantId where they have the role
 */
export async function signIn(
  service: TestService,
  place: { merchantId: string; storeId: string },
  role: string,
  merchantId = place.merchantId,
): Promise<Person> {
  people += 1;
  const email = `page-${people}@example.com`;
  const { token, userId } = await users.inviteUser(service.app, { merchantId, email, role });
  const redeemed = await callAsPage(
    service,
    '/console/api/links/redeem',
    { origin: service.baseUrl },
    { method: 'POST', body: { token, password: PASSWORD } },
  );
  expect(redeemed.status).toBe(200);
  const cookie = redeemed.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const { body: me } = await callAsPage(service, '/console/api/me', { cookie });
  await sql`update console_session set has_second_factor = true where user_id = ${userId}`.execute(
    service.app.db,
  );
  const csrf = me.csrf_token;
  return {
    email,
    userId,
    cookie,
    csrf,
    call: (path, { headers = {}, ...options } = {}) =>
      callAsPage(
        service,
        path,
        { ...pageHeaders(service, { cookie, csrf }, place, options.method), ...headers },
        options,
      ),
  };
}

/** As if it had been long ago that they gave their password. */
export async function forgetProof(app: App, { userId }: Person): Promise<void> {
  await sql`update console_session set proved_at_ms = proved_at_ms - 300000 where user_id = ${userId}`.execute(
    app.db,
  );
}

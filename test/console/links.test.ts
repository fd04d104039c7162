import { afterAll, beforeAll, expect, test } from 'vitest';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { startService, type TestService } from '../service.ts';
import { callAsPage } from './people.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const post = (path: string, body: object, origin = service.baseUrl) =>
  callAsPage(service, `/console/api/links/${path}`, { origin }, { method: 'POST', body });
const look = (token: string) => post('look', { token });
const redeem = (token: string) => post('redeem', { token, password: 'gravel-otter-lantern' });

/** All that a refusal says but the name of its request. */
async function refusalOf(answer: ReturnType<typeof post>) {
  const { status, text } = await answer;
  const { request_id: _, request_log_url: __, ...error } = JSON.parse(text).error;
  return { status, error };
}

test('a link says what it takes and stays unused; a wrong one is refused as it is redeemed, and no other site asks', async () => {
  const { merchantId } = await service.createMerchant();
  const invitation = { merchantId, email: 'ada@example.com', role: 'viewer' };
  const { token } = await users.inviteUser(service.app, invitation);
  for (let i = 0; i < 2; i += 1) {
    const { status, body, headers } = await look(token);
    expect([status, headers.get('set-cookie')]).toEqual([200, null]);
    expect(body).toEqual({
      kind: 'invitation',
      email: 'ada@example.com',
      needs: 'new_password',
      merchant_name: expect.any(String),
      role: 'viewer',
      invited_by: null,
    });
  }
  expect((await post('look', {})).status).toBe(400);
  expect((await post('look', { token }, 'https://evil.example')).status).toBe(403);
  const guess = 'x'.repeat(43);
  const wrong = await refusalOf(look(guess));
  expect(wrong).toMatchObject({
    status: 401,
    error: { message: expect.stringContaining('This link was used') },
  });
  expect(wrong).toEqual(await refusalOf(redeem(guess)));
  expect((await redeem(token)).status).toBe(200);
  expect(await refusalOf(look(token))).toEqual(wrong);
});

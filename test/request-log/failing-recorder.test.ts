import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { serveWith } from '../http/http-server.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

test('a recorder that fails is an error in the log, and ends no process', async () => {
  const lines: string[] = [];
  const log = createLogger('error', { write: (line) => void lines.push(line) });
  const record = () => {
    throw new Error('a defect of the recorder');
  };
  // A throw in a listener of the socket would be an uncaught exception, which fails this run.
  const server = await serveWith(service, { log, recorder: { record } });
  expect((await send(`${server.baseUrl}/api/v1/balances`, merchant)).status).toBe(200);
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(1);
  expect(lines[0]).toContain('a defect of the recorder');
  expect((await send(`${server.baseUrl}/api/v1/balances`, merchant)).status).toBe(200);
  await server.close();
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { isPaused } from '../../packages/server/src/transfers/index.ts';
import { startService, type TestService } from '../service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function liveMerchant() {
  const { merchantId } = await service.createMerchant({ mode: 'live' });
  const id = encodeId('merchant', merchantId);
  const commands = networkCommands(service.app);
  const waits = (network: 'erc20' | 'trc20') =>
    isPaused(service.app.db, { merchantId, mode: 'live' }, network, 'USDT');
  return { id, waits, ...commands };
}

test('real money is sent on no network until the operator turns it on, and on none that was turned off again', async () => {
  const { id, waits, enable, disable } = await liveMerchant();
  expect([await waits('erc20'), await waits('trc20')]).toEqual([true, true]);
  expect(await enable(id, 'erc20')).toEqual({ merchant_id: id, networks: ['erc20'] });
  expect([await waits('erc20'), await waits('trc20')]).toEqual([false, true]);
  expect(await enable(id, 'erc20')).toMatchObject({ networks: ['erc20'] });
  expect(await disable(id, 'erc20')).toMatchObject({ networks: [] });
  expect(await waits('erc20')).toBe(true);
});

test('what two people turn on and off at the same time is all done', async () => {
  const { id, enable, disable } = await liveMerchant();
  for (const network of ['erc20', 'trc20'] as const) await enable(id, network);
  await Promise.all([disable(id, 'erc20'), enable(id, 'spl'), disable(id, 'trc20')]);
  expect(await disable(id, 'trc20')).toMatchObject({ networks: ['spl'] });
});

test('a sandbox merchant, an unknown network and an unknown merchant are refused with what to do', async () => {
  const { id, enable } = await liveMerchant();
  const sandbox = encodeId('merchant', (await service.createMerchant()).merchantId);
  await expect(enable(sandbox, 'erc20')).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('only live merchants'),
  });
  await expect(enable(id, 'bitcoin')).rejects.toMatchObject({ details: { param: 'network' } });
  await expect(enable('mer_nobody', 'erc20')).rejects.toMatchObject({ code: 'resource_not_found' });
});

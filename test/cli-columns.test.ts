import { Florin } from '@florin/sdk';
import { beforeAll, expect, test } from 'vitest';
import { createProgram } from '../packages/cli/src/program.ts';
import { isSecondRun, useSandbox } from './sandbox-of-commands.ts';

const COLUMNS = 80;
const LONG_MS = 180_000;

/** Every command that lists something without being told what of. */
const LISTS = createProgram({ json: false }).commands.flatMap((group) =>
  group.commands
    .filter((one) => one.name() === 'list' && one.registeredArguments.length === 0)
    .map((one) => `${group.name()} ${one.name()}`),
);

const { command, read } = useSandbox();

/** At least one of what the lists show, with long names. */
async function fill(): Promise<void> {
  const { base_url: baseUrl, api_key: apiKey, secret_key: secretKey } = read('sandbox.json');
  const sdk = new Florin({ baseUrl, apiKey, secretKey });
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const name = 'A company with a rather long name, its owner, and a few more words';
  await sdk.payouts.create({ currency: 'USDT', items: [{ network: 'erc20', address, amount: '12.34' }] });
  const session = await sdk.checkout.sessions.create({ amount: 123_456n, currency: 'USD' });
  await sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  await sdk.customers.create({
    external_customer_id: 'customer-1',
    name,
    email: 'somebody@department.example.com',
  });
  await sdk.webhookEndpoints.create({
    url: 'https://shop.example.com/webhooks/receive/florin',
  });
}

beforeAll(async () => {
  if (!isSecondRun) await fill();
}, LONG_MS);

test.skipIf(isSecondRun)(
  'every list fits a terminal, has titles, and is JSON with --json',
  {
    timeout: LONG_MS,
  },
  async () => {
    expect(LISTS.length).toBeGreaterThan(15);
    let filled = 0;
    for (const line of LISTS) {
      const { code, stdout, stderr } = await command(line.split(' '));
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
      const wide = stdout.split('\n').filter((one) => [...one].length > COLUMNS);
      expect(wide, line).toEqual([]);
      if (stdout.trim() === '(none)') continue;
      filled += 1;
      expect(stdout, line).toMatch(/^[A-Z][A-Z ]+\n/);
      expect(JSON.parse((await command([...line.split(' '), '--json'])).stdout), line).toBeTruthy();
    }
    expect(filled).toBeGreaterThan(7);
  },
);

import { expect, test } from 'vitest';
import { accounts } from '../../../../signer/src/test-requests.ts';
import { createLogger } from '../../platform/observability/index.ts';
import type { ChainAccount } from '../accounts.ts';
import { LiveEthereum } from './live.ts';
import { readNetworksFile } from './networks-file.ts';

const MAINNET = new URL('../../../../../docs/networks.mainnet.json', import.meta.url);

test('an account whose key was wrong has the addresses of its own key once that is put right, in the same process', async () => {
  const { erc20: network } = readNetworksFile(MAINNET.pathname);
  if (network === undefined) throw new Error('the file has Ethereum');
  const of = { merchantId: '01890000-0000-7000-8000-000000000001', network: 'erc20', account: 1 } as const;
  const row = { ...of, beginsAt: 0n, epoch: 0, coldOwner: null };
  const withKey = (number: number): ChainAccount => ({
    ...row,
    extendedPublicKey: accounts.extendedPublicKey(number),
  });
  const ethereum = new LiveEthereum({
    network,
    signer: { socket: '/nowhere/signer.sock' },
    tankAccount: () => withKey(0),
    nowMs: () => 0,
    log: createLogger('silent'),
  });
  const first = async (account: ChainAccount) =>
    (await ethereum.of(account)?.depositAddress({ index: 0 }))?.address;
  const [wrong, right] = [withKey(2), withKey(1)];
  expect(await first(wrong)).toBe(accounts.deposit(2, 0).address);
  expect(await first(right)).toBe(accounts.deposit(1, 0).address);
  await ethereum.close();
});

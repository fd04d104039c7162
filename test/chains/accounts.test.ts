import type { Network } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainAccount, SignersAccount } from '../../packages/server/src/chains/accounts.ts';
import {
  AccountKeyChecks,
  Accounts,
  type ChainRegistry,
  openAccount,
  openChains,
} from '../../packages/server/src/chains/index.ts';
import { AddressPoolEmpty, type Chain } from '../../packages/server/src/chains/port/index.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { checkout } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const NETWORK = 'erc20';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const keyOf = async (account: number) => `xpub of ${account}`;
/** As the signer says it. */
const saidOf = (extendedPublicKey: string): SignersAccount => ({
  extendedPublicKey,
  epoch: 0,
  coldOwner: null,
});
const open = (merchantId: string, ask = keyOf, network: Network = NETWORK) => {
  const readAccount = async (account: number) => saidOf(await ask(account));
  return openAccount(service.app.db, { merchantId, network }, { readAccount, height: async () => 7n }, 1);
};

test('accounts that are opened at once have numbers of their own, without a gap, for each network', async () => {
  const merchants = Array.from({ length: 20 }, newId);
  const opened = await Promise.all(merchants.map((merchantId) => open(merchantId)));
  const numbers = opened.map(({ account }) => account).toSorted((a, b) => a - b);
  expect(numbers).toEqual(merchants.map((_, i) => i + 1));
  expect(opened).toEqual(await Promise.all(merchants.map((merchantId) => open(merchantId))));
  expect((await open(merchants[7] ?? '', keyOf, 'spl')).account).toBe(1);
});

test('a call that was interrupted before the signer answered is repeated with the same number', async () => {
  const merchantId = newId();
  const asked: number[] = [];
  const isAway = async (account: number): Promise<string> => {
    asked.push(account);
    throw new Error('the signer is away');
  };
  await expect(open(merchantId, isAway)).rejects.toThrow('the signer is away');
  const accounts = new Accounts(service.app.db);
  await accounts.load();
  expect(accounts.find(merchantId, NETWORK)).toBe(undefined);
  const { account } = await open(merchantId);
  expect(asked).toEqual([account]);
  await accounts.load();
  expect(accounts.find(merchantId, NETWORK)).toMatchObject({
    account,
    extendedPublicKey: `xpub of ${account}`,
  });
});

test('an account whose stored key is not the signer’s is used no more, and others go on', async () => {
  const [one, two] = [newId(), newId()];
  const [first, second] = [await open(one), await open(two)];
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line) => lines.push(line) });
  const signer = {
    isAway: false,
    async readAccount(account: number) {
      if (this.isAway) throw new Error('the signer is away');
      return saidOf(await keyOf(account));
    },
  };
  const before = new Accounts(service.app.db);
  await new AccountKeyChecks(before, signer, log).check();
  expect([one, two].map((merchantId) => before.find(merchantId, NETWORK))).toEqual([first, second]);
  signer.isAway = true;
  await asOwner(
    service,
    "update chain_account set extended_public_key = 'another seed' where merchant_id = $1",
    [one],
  );
  // Who knows the key keeps it; who starts afterwards compares it with the signer.
  await before.load();
  expect(before.find(one, NETWORK)).toEqual(first);
  const accounts = new Accounts(service.app.db);
  await accounts.load();
  const checks = new AccountKeyChecks(accounts, signer, log);
  await checks.check();
  expect(accounts.find(one, NETWORK)?.extendedPublicKey).toBe('another seed');
  signer.isAway = false;
  await checks.check();
  await accounts.load();
  expect(accounts.find(one, NETWORK)).toBe(undefined);
  expect(accounts.find(two, NETWORK)).toEqual(second);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'the keys of the accounts could not be compared with the signer',
    "the database holds a key of this account that is not the signer's: the account is used no more",
  ]);
  await asOwner(service, 'update chain_account set extended_public_key = $2 where merchant_id = $1', [
    one,
    `xpub of ${first.account}`,
  ]);
});

const setKey = (merchantId: string, key: string) =>
  asOwner(service, 'update chain_account set extended_public_key = $2 where merchant_id = $1', [
    merchantId,
    key,
  ]);

test('a wrong key that was read while the signer was away is used no more once its row was put right', async () => {
  const merchantId = newId();
  const { extendedPublicKey: right } = await open(merchantId);
  await setKey(merchantId, 'another seed');
  const accounts = new Accounts(service.app.db);
  const log = createLogger('silent', { write: () => undefined });
  const away = { readAccount: () => Promise.reject(new Error('the signer is away')) };
  const checks = new AccountKeyChecks(accounts, away, log);
  await checks.check();
  expect(accounts.find(merchantId, NETWORK)?.extendedPublicKey).toBe('another seed');
  await setKey(merchantId, right);
  await checks.check();
  expect(accounts.find(merchantId, NETWORK)?.extendedPublicKey).toBe(right);
});

test('keys that were exchanged between accounts are used again, right, once the rows were put right', async () => {
  const [one, two] = [await open(newId()), await open(newId())];
  const exchange = async (first: string, second: string) => {
    await setKey(one.merchantId, 'neither');
    await setKey(two.merchantId, second);
    await setKey(one.merchantId, first);
  };
  await exchange(two.extendedPublicKey, one.extendedPublicKey);
  const accounts = new Accounts(service.app.db);
  const log = createLogger('silent', { write: () => undefined });
  const signer = { readAccount: async (account: number) => saidOf(await keyOf(account)) };
  const checks = new AccountKeyChecks(accounts, signer, log);
  await checks.check();
  const used = () => [one, two].map(({ merchantId }) => accounts.find(merchantId, NETWORK));
  expect(used()).toEqual([undefined, undefined]);
  await exchange(one.extendedPublicKey, two.extendedPublicKey);
  await checks.check();
  expect(used()).toEqual([one, two]);
  // What was refused before takes nothing from who knows the right key, and hides no rotation.
  await setKey(two.merchantId, 'neither');
  await setKey(one.merchantId, two.extendedPublicKey);
  const setEpoch = (epoch: number) =>
    asOwner(service, 'update chain_account set epoch = $2 where merchant_id = $1', [one.merchantId, epoch]);
  await setEpoch(1);
  await checks.check();
  expect(used()).toEqual([{ ...one, epoch: 1 }, two]);
  await setEpoch(0);
  for (const { merchantId, extendedPublicKey } of [one, two]) await setKey(merchantId, extendedPublicKey);
});

test('a number goes with its key: neither is changed once both are confirmed, and a wrong number costs no key', async () => {
  const one = await open(newId());
  const setRow = (account: number, key: string, beginsAt: bigint) =>
    asOwner(
      service,
      `update chain_account set account = $2::int, extended_public_key = $3, begins_at = $4::bigint where merchant_id = $1`,
      [one.merchantId, account, key, beginsAt],
    );
  const { account, extendedPublicKey: key, beginsAt } = one;
  const wrong = account + 100_000;
  await setRow(wrong, key, beginsAt);
  const accounts = new Accounts(service.app.db);
  const log = createLogger('silent', { write: () => undefined });
  const signer = { readAccount: async (number: number) => saidOf(await keyOf(number)) };
  const checks = new AccountKeyChecks(accounts, signer, log);
  await checks.check();
  const used = () => accounts.find(one.merchantId, NETWORK);
  expect(used()).toBeUndefined();
  await setRow(account, key, beginsAt);
  await checks.check();
  expect(used()).toEqual(one);
  // Whoever writes the row would have payers get addresses of another key until the signer is asked.
  await setRow(wrong, 'a third seed', beginsAt + 1_000n);
  await accounts.load();
  expect(used()).toEqual(one);
  await checks.check();
  expect(used()).toEqual(one);
  await setRow(account, key, beginsAt);
});

test('one account for which the signer gives no answer keeps no other from being compared', async () => {
  const [one, two] = [await open(newId()), await open(newId())];
  await setKey(two.merchantId, 'another seed');
  let asked = 0;
  const accounts = new Accounts(service.app.db);
  const log = createLogger('silent', { write: () => undefined });
  const signer = {
    async readAccount(account: number) {
      asked += 1;
      if (account === one.account) throw new Error('the signer has no answer');
      return saidOf(await keyOf(account));
    },
  };
  const checks = new AccountKeyChecks(accounts, signer, log);
  // One round is enough: what fails for one account is no reason to stop.
  await checks.check();
  expect(asked).toBeGreaterThan(1);
  expect(accounts.find(one.merchantId, NETWORK)).toEqual(one);
  expect(accounts.find(two.merchantId, NETWORK)).toBe(undefined);
  await setKey(two.merchantId, two.extendedPublicKey);
});

test('what another process has changed is noticed by the next comparison: a cold owner taken over, a wallet rotated', async () => {
  const merchantId = newId();
  const { account } = await open(merchantId);
  const accounts = new Accounts(service.app.db);
  await accounts.load();
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line) => lines.push(line) });
  const owner = '0x00000000000000000000000000000000C01dC01d';
  let said = saidOf('');
  const checks = new AccountKeyChecks(
    accounts,
    { readAccount: async (asked) => ({ ...said, extendedPublicKey: await keyOf(asked) }) },
    log,
  );
  await checks.check();
  for (const changes of [
    { coldOwner: owner, epoch: 0 },
    { coldOwner: owner, epoch: 1 },
  ]) {
    const { coldOwner, epoch } = changes;
    said = { ...said, ...changes };
    await asOwner(service, 'update chain_account set cold_owner = $1, epoch = $2 where merchant_id = $3', [
      coldOwner,
      epoch,
      merchantId,
    ]);
    await checks.check();
    expect(accounts.find(merchantId, NETWORK)).toMatchObject({ account, ...changes });
  }
  expect(lines.filter((line) => line.includes(merchantId))).toEqual([]);
  await asOwner(service, 'update chain_account set cold_owner = null, epoch = 0 where merchant_id = $1', [
    merchantId,
  ]);
});

test('a key is never replaced, and never that of two accounts', async () => {
  const [one, two] = [newId(), newId()];
  const { account } = await open(one);
  let release = (_key: string): void => {};
  const late = open(two, () => new Promise<string>((resolve) => (release = resolve)));
  await expect
    .poll(() => asOwner(service, 'select 1 from chain_account where merchant_id = $1', [two]))
    .toHaveLength(1);
  await open(two);
  release('another');
  await expect(late).rejects.toThrow('two keys for account');
  const same = open(newId(), async () => `xpub of ${account}`);
  await expect(same).rejects.toMatchObject({ constraint: 'chain_account_key' });
});

test.each([
  ['chain_account_account_check', `('erc20', -1, gen_random_uuid(), null, 1)`],
  ['chain_account_pkey', `('erc20', 1, gen_random_uuid(), null, 1)`],
  [
    'chain_account_merchant',
    `('erc20', 1000, (select merchant_id from chain_account where network = 'erc20' limit 1), null, 1)`,
  ],
])('I1: %s forbids what the code never writes', async (constraint, values) => {
  await expect(asOwner(service, `insert into chain_account values ${values}`)).rejects.toMatchObject({
    constraint,
  });
});

/** Live chains on which each account has the wallets of a sandbox merchant's simulated chain. */
function withLive(accounts: Accounts, chainOf: (account: ChainAccount) => Chain | undefined): ChainRegistry {
  const { simulatedDb, clock } = service.app;
  const holder = service.app.chains.holder({ merchantId: newId(), mode: 'sandbox' });
  if (holder === undefined) throw new Error('a sandbox merchant has a holder');
  return openChains({
    simulatedDb,
    merchantNow: async () => clock.nowSeconds(),
    live: {
      accounts,
      chains: {
        of: chainOf,
        holder,
        facts: () => undefined,
        readTank: async () => undefined,
        isSignedText: async () => false,
        payerCalls: () => undefined,
      },
    },
  });
}

test('O2: a live merchant has a chain where it has an account and the installation a node, and no simulated one', async () => {
  const accounts = new Accounts(service.app.db);
  const merchant = { merchantId: newId(), mode: 'live' as const };
  const chain = service.app.chains.sandbox(newId(), NETWORK);
  const seen: ChainAccount[] = [];
  const chains = withLive(accounts, (account) => {
    seen.push(account);
    return account.network === NETWORK ? chain : undefined;
  });
  expect(() => chains.of(merchant, NETWORK)).toThrow(Fail);
  expect(await chains.unpayableAddresses(merchant, NETWORK)).toEqual([]);
  const account = await open(merchant.merchantId);
  await open(merchant.merchantId, keyOf, 'trc20');
  await accounts.load();
  expect(chains.of(merchant, NETWORK)).toBe(chain);
  expect(await chains.unpayableAddresses(merchant, NETWORK)).toEqual(await chain.unpayableAddresses());
  expect(seen[0]).toEqual(account);
  expect(() => chains.of(merchant, 'trc20')).toThrow(Fail);
  expect(chains.holder(merchant)).toBeDefined();
  expect(service.app.chains.holder(merchant)).toBe(undefined);
});

/** The payer of a session chooses erc20, as if the merchant were live on such a chain. */
async function choose(merchant: TestMerchant, chain: Chain) {
  const { app } = service;
  const { id } = await checkout(service, merchant).open();
  const accounts = new Accounts(app.db);
  await open(merchant.merchantId);
  await accounts.load();
  const deps = { ...app, chains: withLive(accounts, () => chain) };
  const session = await getSession(app.db, merchant, id);
  const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
  const view = await chooseOption(deps, who, session, { currency: 'USDT', network: NETWORK });
  return view.options[0]?.address;
}

test('an address of a live merchant is in the directory over all merchants, once', async () => {
  const [one, two] = [
    await service.createMerchant({ funds: 0n }),
    await service.createMerchant({ funds: 0n }),
  ];
  const chain = service.app.chains.sandbox(one.merchantId, NETWORK);
  const address = await choose(one, chain);
  expect(
    await asOwner(service, 'select * from deposit_owner where merchant_id = $1', [one.merchantId]),
  ).toEqual([{ network: NETWORK, watch: address, merchant_id: one.merchantId, address_index: 0n }]);
  // Two accounts with the same keys: the second is refused the address, and nothing of it stays.
  await expect(choose(two, chain)).rejects.toMatchObject({ constraint: 'deposit_owner_pkey' });
  expect(
    await asOwner(service, 'select 1 from payment_option where merchant_id = $1', [two.merchantId]),
  ).toEqual([]);
});

test('where no address is left the option is unavailable, and no number is used up', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const chain = service.app.chains.sandbox(merchant.merchantId, NETWORK);
  const dry: Chain = Object.create(chain, {
    depositAddress: { value: () => Promise.reject(new AddressPoolEmpty(NETWORK)) },
  });
  await expect(choose(merchant, dry)).rejects.toMatchObject({ code: 'service_unavailable' });
  await choose(merchant, chain);
  expect(
    await asOwner(service, 'select address_index from deposit_owner where merchant_id = $1', [
      merchant.merchantId,
    ]),
  ).toEqual([{ address_index: 0n }]);
});

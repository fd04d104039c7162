import { ASSETS, NETWORKS } from '@florin/contract/money';
import type { PayoutItemInput } from '@florin/contract/schemas';
import { expect, test } from 'vitest';
import { testAddresses } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { FindUnpayable, Screen } from '../transfers/recipients/index.ts';
import { type CheckContext, checkItems } from './check-items.ts';
import { PAYOUT_SETTINGS } from './settings.ts';
import { checkLimits, totalsOf } from './states.ts';

const USDT_CONTRACT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** A risk list without a database. */
const listing =
  (...addresses: string[]): Screen =>
  async (_db, _mode, request) =>
    new Set(addresses.filter((address) => request.addresses.includes(address)));

/** Addresses that pay nobody, without a database. */
const owning =
  (...addresses: string[]): FindUnpayable =>
  async (_db, _merchant, request) =>
    new Set(addresses.filter((address) => request.addresses.includes(address)));

function context(changed: Partial<CheckContext> = {}): CheckContext {
  const rules = {
    tokens: PAYOUT_SETTINGS.tokens.fallback('sandbox'),
    allowProgramOwned: false,
    feeBasisPoints: 10,
    feeErc20: 1_000_000n,
    feeTrc20: 1_000_000n,
    feeSpl: 100_000n,
  };
  const screen = listing();
  const merchant = { merchantId: 'a merchant', mode: 'sandbox' } as const;
  const at = { merchant, currency: 'USDT', network: 'erc20', stage: 'creation' } as const;
  const findUnpayable = owning();
  return { db: undefined as unknown as Db, rules, screen, findUnpayable, ...at, ...changed };
}
const item = (address: string, changed: Partial<PayoutItemInput> = {}): PayoutItemInput => ({
  network: 'erc20',
  address,
  amount: '10',
  ...changed,
});
async function findings(inputs: PayoutItemInput[], changed: Partial<CheckContext> = {}): Promise<string[]> {
  const checked = await checkItems(
    inputs.map((input, index) => ({ index, input })),
    context(changed),
  );
  return checked.flatMap((one) => one.errors.map((error) => `${error.field} ${error.code}`));
}

test('findings name the items whose address cannot be paid', async () => {
  const bad = [
    'nowhere',
    `0x${'0'.repeat(40)}`,
    '0x000000000000000000000000000000000000dEaD',
    USDT_CONTRACT,
    MIXED.replace('5aA', '5aa'),
    testAddresses('trc20').succeed,
    'x'.repeat(256),
  ];
  expect(await findings([item(MIXED), ...bad.map((address) => item(address))])).toEqual(
    bad.map((_, i) => `items[${i + 1}].address address_invalid`),
  );
});

test('an address without mixed case is accepted and gets one spelling', async () => {
  const [lower, mixed] = await checkItems(
    [MIXED.toLowerCase(), MIXED].map((address, index) => ({ index, input: item(address) })),
    context(),
  );
  expect(lower?.errors).toEqual([]);
  expect(lower?.canonical).toBe(mixed?.canonical);
  expect(lower?.input.address).toBe(MIXED.toLowerCase());
});

test('the batch takes its network from its first item: others are a mismatch, checked by their own rules too', async () => {
  const other = item(testAddresses('spl').succeed, { network: 'spl' });
  expect(await findings([item(MIXED), other])).toEqual(['items[1].network network_mismatch']);
  expect(await findings([item(MIXED), { ...other, address: MIXED }])).toEqual([
    'items[1].network network_mismatch',
    'items[1].address address_invalid',
  ]);
});

test('USDC on trc20 is paid out in the sandbox and not in live', async () => {
  for (const currency of ASSETS) {
    for (const network of NETWORKS) {
      for (const mode of ['sandbox', 'live'] as const) {
        const inputs = [item(testAddresses(network).succeed, { network })];
        const rules = { ...context().rules, tokens: PAYOUT_SETTINGS.tokens.fallback(mode) };
        const closed = mode === 'live' && currency === 'USDC' && network === 'trc20';
        const merchant = { merchantId: 'a merchant', mode };
        const found = await findings(inputs, { currency, network, merchant, rules });
        expect(found).toEqual(closed ? ['items[0].network token_not_supported'] : []);
      }
    }
  }
});

test('an address of a program on Solana is refused unless the setting allows it', async () => {
  const inputs = [item(await programAddress(), { network: 'spl' })];
  expect(await findings(inputs, { network: 'spl' })).toEqual(['items[0].address address_invalid']);
  const rules = { ...context().rules, allowProgramOwned: true };
  expect(await findings(inputs, { network: 'spl', rules })).toEqual([]);
});

/** Found by trying: half of all byte strings are not on the curve. */
async function programAddress(): Promise<string> {
  const { base58 } = await import('@scure/base');
  const { checkAddress } = await import('../chains/addresses/index.ts');
  for (let i = 1; ; i++) {
    const address = base58.encode(new Uint8Array(32).fill(i));
    const strict = checkAddress('spl', address, { allowProgramOwned: false });
    if (!strict.ok && checkAddress('spl', address, { allowProgramOwned: true }).ok) return address;
  }
}

test('a sanctioned address is found in every spelling and in every item, and no other is', async () => {
  const canonical = (await checkItems([{ index: 0, input: item(MIXED) }], context()))[0]?.canonical ?? '';
  const inputs = [item(MIXED), item(testAddresses('erc20').succeed), item(MIXED.toLowerCase())];
  expect(await findings(inputs, { screen: listing(canonical) })).toEqual([
    'items[0].address address_risk',
    'items[2].address address_risk',
  ]);
});

test('an own address is found in every spelling; one that is listed too counts as a risk', async () => {
  const canonical = (await checkItems([{ index: 0, input: item(MIXED) }], context()))[0]?.canonical ?? '';
  const inputs = [item(MIXED), item(testAddresses('erc20').succeed), item(MIXED.toLowerCase())];
  const findUnpayable = owning(canonical);
  expect(await findings(inputs, { findUnpayable })).toEqual([
    'items[0].address address_invalid',
    'items[2].address address_invalid',
  ]);
  expect(await findings(inputs, { findUnpayable, screen: listing(canonical) })).toEqual([
    'items[0].address address_risk',
    'items[2].address address_risk',
  ]);
});

test('an item with another finding is not screened, and an unreachable risk list refuses all', async () => {
  const asked: string[] = [];
  const screen: Screen = async (_db, _mode, request) => {
    asked.push(...request.addresses);
    throw new Error('the list cannot be read');
  };
  expect(await findings([item('nowhere')], { screen })).toEqual(['items[0].address address_invalid']);
  expect(asked).toEqual([]);
  await expect(findings([item(MIXED)], { screen })).rejects.toThrow('the list cannot be read');
});

test('fees are those of the item’s own network', async () => {
  const inputs = [item(MIXED), item(testAddresses('spl').succeed, { network: 'spl' })];
  const checked = await checkItems(
    inputs.map((input, index) => ({ index, input })),
    context(),
  );
  expect(checked.map((one) => one.fee)).toEqual([1_010_000n, 110_000n]);
});

test('an amount of a megabyte is above the maximum of any batch, and costs nothing to judge', async () => {
  const inputs = Array.from({ length: 200 }, (_, index) => ({
    index,
    input: item(MIXED, { amount: '9'.repeat(1_000_000) }),
  }));
  const before = process.cpuUsage();
  const checked = await checkItems(inputs, context());
  const { user } = process.cpuUsage(before);
  // To read them as numbers takes 20 s.
  expect(user / 1000).toBeLessThan(2_000);
  const max = PAYOUT_SETTINGS.max.read('1000000000.00');
  expect(() => checkLimits(totalsOf(checked).requested, { min: 0n, max, format: String })).toThrow(
    'above the maximum of a batch',
  );
});

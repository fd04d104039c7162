import { expect, test } from 'vitest';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import { readTronEntry, type TronEntry } from './network-entry.ts';

const NILE = '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc';
const MAINNET = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
/** Some contract of a test network. */
const NILE_USDT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
const USDC = { address: TOKEN_CONTRACTS.trc20.USDC, decimals: 6 } as const;
const USDT = { address: TOKEN_CONTRACTS.trc20.USDT, decimals: 6 } as const;
const TRON: TronEntry = {
  name: 'Tron',
  test: true,
  endpoints: [
    { url: 'http://10.0.0.5:8090', own: true, solid_url: 'http://10.0.0.5:8091' },
    'https://node.example',
  ],
  genesis_hash: NILE,
  tokens: { USDT, USDC },
  fee_ceilings: { fee_limit: '100000000' },
  explorer: null,
};

function read(changes: Partial<TronEntry>) {
  const mistakes: string[] = [];
  const network = readTronEntry({ ...TRON, ...changes }, (field, wrong) =>
    mistakes.push(`${field} ${wrong}`),
  );
  return { network, mistakes };
}

test('an endpoint may have a URL for each view', () => {
  const { network, mistakes } = read({});
  expect(mistakes).toEqual([]);
  expect(network).toMatchObject({
    isTest: true,
    genesisHash: NILE,
    endpoints: [
      { url: 'http://10.0.0.5:8090/', solidUrl: 'http://10.0.0.5:8091/', isOwn: true },
      { url: 'https://node.example/', isOwn: false },
    ],
    tokens: {
      USDT: { contract: TOKEN_CONTRACTS.trc20.USDT },
      USDC: { contract: TOKEN_CONTRACTS.trc20.USDC },
    },
    feeCeilings: { feeLimit: 100_000_000n },
  });
});

const REAL: Partial<TronEntry> = { test: false, genesis_hash: MAINNET, tokens: { USDT } };

test('real money is on mainnet, in the one USDT of it, and no wallet is charged', () => {
  const { network, mistakes } = read(REAL);
  expect(mistakes).toEqual([]);
  expect(network).toMatchObject({
    isTest: false,
    tokens: { USDT: { contract: TOKEN_CONTRACTS.trc20.USDT } },
    collector: null,
  });
  expect(read({ ...REAL, contracts: { collector: null } }).mistakes).toEqual([]);
});

test.each<[name: string, changes: Partial<TronEntry>, lines: string[]]>([
  [
    'real money on another chain',
    { ...REAL, genesis_hash: NILE },
    [`genesis_hash must be ${MAINNET} where test is false`],
  ],
  [
    'real money in another token, or in two',
    { ...REAL, tokens: { USDT: { address: NILE_USDT, decimals: 6 }, USDC } },
    [
      `tokens.USDT.address must be ${TOKEN_CONTRACTS.trc20.USDT} where test is false`,
      'tokens.USDC has no issuer on this network any more: remove it where test is false',
    ],
  ],
  [
    'wallets that are charged with real money',
    { ...REAL, contracts: { collector: NILE_USDT } },
    ['contracts.collector must be null where test is false: no wallet is charged with real money yet'],
  ],
  [
    'mainnet as a test network',
    { genesis_hash: MAINNET },
    ['test is true, and the first block is that of mainnet, where coins have a value'],
  ],
  ['no token', { tokens: {} }, ['tokens is empty: name USDT, USDC or both']],
  [
    'one contract for both',
    { tokens: { USDT: USDC, USDC } },
    ['tokens.USDC.address is the address of tokens.USDT.address too: give each its own'],
  ],
  [
    'an address of another network',
    { tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT, decimals: 6 } } },
    ['tokens.USDT.address must be the address of a token, T and 33 letters'],
  ],
  [
    'a stranger’s endpoint without TLS, for either view',
    { endpoints: [{ url: 'https://node.example', own: false, solid_url: 'http://node.example' }] },
    ['endpoints[0].solid_url is not encrypted: use https://, or mark your own node with "own": true'],
  ],
  [
    'one node that would agree with itself on what is final',
    {
      endpoints: [
        { url: 'https://one.example', own: false, solid_url: 'https://solid.example' },
        { url: 'https://two.example', own: false, solid_url: 'https://solid.example/' },
        'https://solid.example',
      ],
    },
    [
      'endpoints[1].solid_url is the same as endpoints[0]: remove one of them',
      'endpoints[2] is the same as endpoints[0]: remove one of them',
    ],
  ],
  [
    'a ceiling that no payment fits under',
    { fee_ceilings: { fee_limit: '1000000' } },
    ['fee_ceilings.fee_limit must be from 16000000 to 15000000000 sun'],
  ],
  [
    'real money under a ceiling that is below what energy has cost before',
    { ...REAL, fee_ceilings: { fee_limit: '69999999' } },
    ['fee_ceilings.fee_limit must be from 70000000 to 15000000000 sun'],
  ],
  [
    'a collector that is a token, and a ceiling that no charge fits under',
    { contracts: { collector: USDC.address }, fee_ceilings: { fee_limit: '29999999' } },
    [
      'contracts.collector is the address of a token',
      'fee_ceilings.fee_limit must be at least 30000000 sun where wallets are charged',
    ],
  ],
  [
    'a collector of another network',
    { contracts: { collector: TOKEN_CONTRACTS.erc20.USDT } },
    ['contracts.collector must be the address of the contract, T and 33 letters'],
  ],
])('of Tron is refused: %s', (_name, changes, lines) => {
  expect(read(changes).mistakes).toEqual(lines);
});

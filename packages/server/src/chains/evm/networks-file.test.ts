import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import { type NetworkEntry, NetworksFileWrong, parseNetworks, readNetworksFile } from './networks-file.ts';

const ROOT = path.join(import.meta.dirname, '../../../../..');
const folder = mkdtempSync(path.join(tmpdir(), 'florin-networks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GOOD: NetworkEntry = {
  name: 'Ethereum',
  test: false,
  endpoints: ['https://one.example/key', { url: 'http://10.0.0.5:8545', own: true }],
  chain_id: 1,
  genesis_hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  tokens: {
    USDT: { address: TOKEN_CONTRACTS.erc20.USDT.toLowerCase(), decimals: 6 },
    USDC: { address: TOKEN_CONTRACTS.erc20.USDC, decimals: 6 },
  },
  contracts: { batch_payout: null, sweeper: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  finality: { tag: 'finalized', early_confirmations: 12 },
  fee_ceilings: {
    max_fee_per_gas: '100000000000',
    max_priority_fee_per_gas: '5000000000',
    gas_per_transaction: 16_777_216,
  },
  explorer: { transaction: 'https://scan.example/{tx_id}', address: 'https://scan.example/a/{address}' },
};

const parse = (erc20: unknown) => parseNetworks(JSON.stringify({ networks: { erc20 } }));
/** Without the way to the network. */
const mistakesOf = (changes: object) =>
  parse({ ...GOOD, ...changes }).mistakes.map((line) => line.replace('networks.erc20.', ''));

test('a good file is read, with canonical addresses and amounts as integers', () => {
  const { networks, mistakes } = parse(GOOD);
  expect(mistakes).toEqual([]);
  expect(networks.erc20).toMatchObject({
    isTest: false,
    endpoints: [
      { url: 'https://one.example/key', isOwn: false },
      { url: 'http://10.0.0.5:8545/', isOwn: true },
    ],
    tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT } },
    batchPayout: null,
    collector: null,
    feeCeilings: { maxFeePerGas: 100_000_000_000n, gasPerTransaction: 16_777_216n },
  });
});

test('the values for mainnet that ship are good, and have the tokens of addresses/token-contracts.ts', () => {
  const { erc20 } = readNetworksFile(path.join(ROOT, 'docs/networks.mainnet.json'));
  expect(erc20).toMatchObject({ chainId: 1, isTest: false, finality: { earlyConfirmations: 12 } });
  expect(erc20?.tokens.USDT?.address).toBe(TOKEN_CONTRACTS.erc20.USDT);
  expect(erc20?.tokens.USDC?.address).toBe(TOKEN_CONTRACTS.erc20.USDC);
});

const token = (address: string) => ({ tokens: { USDT: { address, decimals: 6 } } });
const WRONG: [name: string, changes: object, lines: string[]][] = [
  ['an unknown key', { colour: 'red' }, ['colour is not a field of this file: remove it']],
  ['a missing key', { finality: undefined }, ['finality is missing: add it']],
  ['a wrong type', { chain_id: '1' }, ['chain_id must be a whole number, such as 1 for mainnet']],
  ['no endpoint', { endpoints: [] }, ['endpoints must be a list of 1 to 8 endpoints']],
  [
    'an endpoint of another type',
    { endpoints: [7] },
    ['endpoints[0] must be the URL of a node, or {"url": "https://…", "own": true} for your own node'],
  ],
  ['half an endpoint', { endpoints: [{ url: 'https://a' }] }, ['endpoints[0].own is missing: add it']],
  [
    'an endpoint twice, spelled otherwise',
    { endpoints: ['https://a.example', 'https://b.example/', 'HTTPS://A.example:443/'] },
    ['endpoints[2] is the same as endpoints[0]: remove one of them'],
  ],
  [
    'an endpoint that is no URL',
    { endpoints: ['node.example:8545', 'ws://a/'] },
    [0, 1].map((n) => `endpoints[${n}] must be a URL that begins with https:// or http://`),
  ],
  [
    'a stranger’s endpoint without TLS',
    { endpoints: ['http://node.example/'] },
    ['endpoints[0] is not encrypted: use https://, or mark your own node with "own": true'],
  ],
  [
    'a token of other decimals',
    { tokens: { USDT: { address: 'x', decimals: 18 } } },
    ['tokens.USDT.decimals must be 6'],
  ],
  ['no token', { tokens: {} }, ['tokens is empty: name USDT, USDC or both']],
  ['an address cut short', token('0xdAC17F95'), ['tokens.USDT.address must be 0x and 40 hex digits']],
  [
    'an address with a wrong letter',
    token('0xdAC17F958D2ee523a2206206994597C13D831eC7'),
    ['tokens.USDT.address has a wrong checksum: compare it with its source, a letter is wrong'],
  ],
  [
    'the zero address',
    token(`0x${'0'.repeat(40)}`),
    ['tokens.USDT.address is an address that no contract can have'],
  ],
  [
    'one address twice',
    { contracts: { batch_payout: TOKEN_CONTRACTS.erc20.USDC, sweeper: null } },
    ['contracts.batch_payout is the address of tokens.USDC.address too: give each its own'],
  ],
  [
    'a ceiling as a number, and one that forbids everything',
    { fee_ceilings: { ...GOOD.fee_ceilings, max_fee_per_gas: 5, gas_per_transaction: 1 } },
    [
      'fee_ceilings.max_fee_per_gas must be wei in decimal digits, as text',
      'fee_ceilings.gas_per_transaction must be a number from 1000000 to 16777216',
    ],
  ],
  [
    'a tip above the whole fee',
    { fee_ceilings: { ...GOOD.fee_ceilings, max_priority_fee_per_gas: '200000000000' } },
    ['fee_ceilings.max_priority_fee_per_gas is above max_fee_per_gas: lower it'],
  ],
  [
    'links without their part, or without TLS',
    { explorer: { transaction: 'https://scan.example/', address: 'javascript:{address}' } },
    [
      'explorer.transaction must contain {tx_id}',
      'explorer.address must be a link that begins with https://',
    ],
  ],
  [
    'a node for wallets that holds a key',
    { public_endpoint: 'https://node.example/?key=1' },
    ['public_endpoint is shown to every payer: give one without a password or query'],
  ],
  [
    'a node for wallets that is not encrypted',
    { public_endpoint: 'http://node.example/' },
    ['public_endpoint must be a URL that begins with https://'],
  ],
  [
    'another finality',
    { finality: { tag: 'latest', early_confirmations: 0 } },
    [
      'finality.tag must be "finalized"',
      'finality.early_confirmations must be a number from 1 to 1000, or null',
    ],
  ],
];

const SOLANA = {
  name: 'Solana',
  test: true,
  endpoints: [{ url: 'http://10.0.0.5:8899', own: true }],
  genesis_hash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  tokens: {
    USDT: { address: TOKEN_CONTRACTS.spl.USDT, decimals: 6 },
    USDC: { address: TOKEN_CONTRACTS.spl.USDC, decimals: 6 },
  },
  fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
  explorer: null,
};
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const parseSolana = (changes: object, erc20: object = { ...GOOD, test: true }) =>
  parseNetworks(JSON.stringify({ networks: { erc20, spl: { ...SOLANA, ...changes } } }));

test('a Solana for tests stands beside a test network, its mints under tokens', () => {
  const { networks, mistakes } = parseSolana({});
  expect(mistakes).toEqual([]);
  expect(networks.spl).toMatchObject({
    isTest: true,
    genesisHash: SOLANA.genesis_hash,
    tokens: { USDT: { mint: TOKEN_CONTRACTS.spl.USDT }, USDC: { mint: TOKEN_CONTRACTS.spl.USDC } },
    feeCeilings: { computeUnits: 600_000, priorityFee: 1_000_000n },
  });
});

test('real money on Solana is mainnet’s, in the issuers’ mints, beside an Ethereum with real money', () => {
  const real = { test: false, genesis_hash: MAINNET };
  expect(parseSolana({ ...real, endpoints: ['https://a.example', 'https://b.example'] }, GOOD)).toMatchObject(
    {
      networks: { spl: { isTest: false, genesisHash: MAINNET } },
      mistakes: [],
    },
  );
  expect(parseSolana(real).mistakes).toEqual([
    'networks.erc20.test is true and networks.spl.test is not: remove networks.spl',
  ]);
  const others = { ...real, genesis_hash: SOLANA.genesis_hash, tokens: { USDT: SOLANA.tokens.USDC } };
  expect(parseSolana(others, GOOD).mistakes).toEqual([
    `networks.spl.genesis_hash is not that of mainnet, ${MAINNET}: where test is false no other network is`,
    `networks.spl.tokens.USDT.address is not the mint of USDT on mainnet, ${TOKEN_CONTRACTS.spl.USDT}`,
  ]);
});

test('beside real money Ethereum is mainnet, with the contracts of the issuers', () => {
  const real = { test: false, genesis_hash: MAINNET };
  const genesis_hash = `0x${'d4'.repeat(32)}`;
  const faucet = { ...GOOD, chain_id: 11_155_111, genesis_hash, tokens: { USDT: GOOD.tokens.USDC } };
  expect(parseNetworks(JSON.stringify({ networks: { erc20: faucet } })).mistakes).toEqual([]);
  expect(parseSolana(real, faucet).mistakes).toEqual([
    expect.stringContaining("networks.erc20.chain_id is not mainnet's, 1"),
    expect.stringContaining("networks.erc20.genesis_hash is not mainnet's"),
    expect.stringContaining('networks.erc20.tokens.USDT.address is not the contract of USDT on mainnet'),
  ]);
});

test.each<[name: string, changes: object, lines: string[]]>([
  [
    'mainnet as a test network',
    { genesis_hash: MAINNET },
    ['genesis_hash is that of mainnet, whose coins have value: name another network, or "test": false'],
  ],
  [
    'a hash of Ethereum',
    { genesis_hash: GOOD.genesis_hash },
    ['genesis_hash must be what getGenesisHash of a node gives, in base58'],
  ],
  ['no token', { tokens: {} }, ['tokens is empty: name USDT, USDC or both']],
  [
    'one mint for both',
    { tokens: { USDT: SOLANA.tokens.USDC, USDC: SOLANA.tokens.USDC } },
    ['tokens.USDC.address is the address of tokens.USDT.address too: give each its own'],
  ],
  [
    'an address of another network',
    { tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT, decimals: 6 } } },
    ['tokens.USDT.address must be the address of a mint, in base58'],
  ],
  [
    'a stranger’s endpoint without TLS',
    { endpoints: ['http://node.example/'] },
    ['endpoints[0] is not encrypted: use https://, or mark your own node with "own": true'],
  ],
  [
    'ceilings that no payment fits under',
    { fee_ceilings: { compute_units: 1, priority_fee: 5 } },
    [
      'fee_ceilings.compute_units must be a number from 500000 to 1400000',
      'fee_ceilings.priority_fee must be lamports in decimal digits, as text',
    ],
  ],
])('of Solana is refused: %s', (_name, changes, lines) => {
  expect(parseSolana(changes).mistakes).toEqual(lines.map((line) => `networks.spl.${line}`));
});

test('coins without value do not get into the books of real ones', () => {
  expect(parseSolana({}, GOOD)).toEqual({
    networks: {},
    mistakes: ['networks.spl.test is true and networks.erc20.test is not: remove networks.spl'],
  });
  const trc20 = {
    name: 'Tron',
    test: true,
    endpoints: [{ url: 'http://10.0.0.5:8090', own: true, solid_url: 'http://10.0.0.5:8091' }],
    genesis_hash: 'd'.repeat(64),
    tokens: { USDT: { address: TOKEN_CONTRACTS.trc20.USDT, decimals: 6 } },
    fee_ceilings: { fee_limit: '100000000' },
    explorer: null,
  };
  const parseTron = (erc20: object) => parseNetworks(JSON.stringify({ networks: { erc20, trc20 } }));
  expect(parseTron(GOOD).mistakes).toEqual([
    'networks.trc20.test is true and networks.erc20.test is not: remove networks.trc20',
  ]);
  expect(parseTron({ ...GOOD, test: true }).networks.trc20).toMatchObject({ name: 'Tron', isTest: true });
  const first = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
  const real = { ...trc20, test: false, genesis_hash: first };
  const parseReal = (erc20: object) => parseNetworks(JSON.stringify({ networks: { erc20, trc20: real } }));
  expect(parseReal(GOOD)).toMatchObject({
    mistakes: [],
    networks: { erc20: { isTest: false }, trc20: { isTest: false, genesisHash: first, collector: null } },
  });
  expect(parseReal({ ...GOOD, test: true })).toEqual({
    networks: {},
    mistakes: ['networks.erc20.test is true and networks.trc20.test is not: remove networks.trc20'],
  });
});

describe('what is wrong is said, each in a line', () => {
  test.each(WRONG)('%s', (_name, changes, lines) => {
    expect(mistakesOf(changes)).toEqual(lines);
  });

  test('more than eight mistakes at once', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`unknown_${i}`, i]));
    expect(mistakesOf(many)).toHaveLength(30);
  });

  test.each([
    ['', 'it is not JSON: compare brackets, commas and quotes'],
    [JSON.stringify({ networks: { erc20: GOOD } }).slice(0, 200), 'it is not JSON'],
    ['null', 'the file must be an object: {…}'],
    ['{"networks":{}}', 'networks.erc20 is missing: name a network there'],
  ])('the text %s', (text, line) => {
    expect(parseNetworks(text).mistakes).toEqual([expect.stringContaining(line)]);
  });

  test('a file that is not there, or is a folder', () => {
    expect(() => readNetworksFile(path.join(folder, 'none.json'))).toThrow('there is no such file');
    expect(() => readNetworksFile(folder)).toThrow(/cannot be read \(EISDIR\)/);
    const file = path.join(folder, 'half.json');
    writeFileSync(file, '{"networks":');
    expect(() => readNetworksFile(file)).toThrow(NetworksFileWrong);
  });
});

test('G2: no key of a URL is in any line, wherever the file is broken', () => {
  const KEY = 'k3y0fTh3Pr0v1d3r';
  const text = JSON.stringify({
    networks: {
      erc20: {
        ...GOOD,
        endpoints: [`https://u:${KEY}@a.example/${KEY}?k=${KEY}`, `ftp://${KEY}`, `http://h/${KEY}`],
      },
    },
  });
  fc.assert(
    fc.property(
      fc.nat(text.length),
      fc.nat(8),
      fc.constantFrom('', '"', '{', '}', ',', 'x', '1', '\\'),
      (at, cut, put) => {
        const { mistakes } = parseNetworks(text.slice(0, at) + put + text.slice(at + cut));
        expect(mistakes.length).toBeGreaterThan(0);
        // Five letters of it in a row would be a part of it.
        for (let i = 0; i + 5 <= KEY.length; i++)
          expect(mistakes.join('\n').includes(KEY.slice(i, i + 5))).toBe(false);
      },
    ),
    { numRuns: 2_000 },
  );
});

import { readFileSync, statSync } from 'node:fs';
import { ASSETS, type Asset } from '@florin/contract/money';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import {
  type Complain,
  checkExplorer,
  EndpointEntries,
  ExplorerEntry,
  isLoopback,
  readEndpoints,
} from '../rpc/entries.ts';
import type { SolanaNetwork } from '../solana/network.ts';
import { readSolanaEntry, SolanaEntry } from '../solana/network-entry.ts';
import type { TronNetwork } from '../tron/network.ts';
import { readTronEntry, TronEntry } from '../tron/network-entry.ts';
import { canonicalContract } from './contract-address.ts';
import type { EvmNetwork } from './network.ts';

const BYTES_MAX = 1_048_576;
const ERRORS_MAX = 1_000;
const MAINNET = {
  chainId: 1,
  genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
};
const WEI = /^(0|[1-9][0-9]{0,27})$/;
/** EIP-7825: no transaction of mainnet may have more. */
const GAS_MAX = 16_777_216;
/** What any transaction of ours fits into but the one that deploys the collector, once: 2 million. */
const GAS_MIN = 1_000_000;

const closed = { additionalProperties: false };
const Address = Type.String({ description: 'an address: 0x and 40 hex digits in quotes' });
const AddressOrNull = Type.Union([Address, Type.Null()], { description: 'an address, or null' });
const Wei = Type.String({ pattern: WEI.source, description: 'wei in decimal digits, as text' });
const Token = Type.Object({ address: Address, decimals: Type.Literal(6) }, closed);

/** One network as it stands in the file. */
export const NetworkEntry = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 60, description: 'a name of 1 to 60 characters' }),
    /** Coins without value. */
    test: Type.Boolean(),
    endpoints: EndpointEntries,
    chain_id: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'a whole number, such as 1 for mainnet',
    }),
    /** A node that payers' wallets may add this network with: everybody reads it. Null: they are offered none. */
    public_endpoint: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'the URL of a node without a key, or null' }),
    ),
    /** Another one under the same chain id is another chain: a local node that was started again. */
    genesis_hash: Type.String({ pattern: '^0x[0-9a-f]{64}$', description: '0x and 64 small hex digits' }),
    tokens: Type.Object({ USDT: Type.Optional(Token), USDC: Type.Optional(Token) }, closed),
    /** Null before it is deployed: payouts are single transfers then, nothing is swept, and no wallet is charged. */
    contracts: Type.Object(
      { batch_payout: AddressOrNull, sweeper: AddressOrNull, collector: Type.Optional(AddressOrNull) },
      closed,
    ),
    /** Blocks up to the node's `finalized` are final; small deposits count earlier, after so many blocks. */
    finality: Type.Object(
      {
        tag: Type.Literal('finalized'),
        early_confirmations: Type.Union([Type.Integer({ minimum: 1, maximum: 1_000 }), Type.Null()], {
          description: 'a number from 1 to 1000, or null',
        }),
      },
      closed,
    ),
    fee_ceilings: Type.Object(
      {
        max_fee_per_gas: Wei,
        max_priority_fee_per_gas: Wei,
        gas_per_transaction: Type.Integer({
          minimum: GAS_MIN,
          maximum: GAS_MAX,
          description: `a number from ${GAS_MIN} to ${GAS_MAX}`,
        }),
      },
      closed,
    ),
    explorer: ExplorerEntry,
  },
  closed,
);
export type NetworkEntry = Static<typeof NetworkEntry>;

export const NetworksFile = Type.Object(
  {
    /** Names the program that wrote the file. */
    written_by: Type.Optional(Type.String()),
    networks: Type.Object(
      {
        erc20: Type.Optional(NetworkEntry),
        trc20: Type.Optional(TronEntry),
        spl: Type.Optional(SolanaEntry),
      },
      closed,
    ),
  },
  closed,
);
export type NetworksFile = Static<typeof NetworksFile>;

/** What the networks file configures. */
export interface ConfiguredNetworks {
  erc20?: EvmNetwork;
  /** Beside Ethereum, as Solana. */
  trc20?: TronNetwork;
  spl?: SolanaNetwork;
}

/** The networks file cannot be used. No line holds an endpoint's URL, which may have a key in it. */
export class NetworksFileWrong extends Error {
  /** One line for each mistake, which says where it is and what to write instead. */
  readonly mistakes: readonly string[];

  constructor(file: string, mistakes: readonly string[]) {
    super(`${file} cannot be used: ${mistakes.join('; ')}`);
    this.mistakes = mistakes;
  }
}

/**
 * Reads the file that FLORIN_NETWORKS_FILE names.
 *
 * @throws NetworksFileWrong with all mistakes at once
 */
export function readNetworksFile(file: string): ConfiguredNetworks {
  const { networks, mistakes } = parseNetworks(readText(file));
  if (mistakes.length > 0) throw new NetworksFileWrong(file, mistakes);
  return networks;
}

function readText(file: string): string {
  try {
    if (statSync(file).size > BYTES_MAX) throw new NetworksFileWrong(file, ['it is larger than 1 MiB']);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof NetworksFileWrong) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new NetworksFileWrong(file, [
      code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`,
    ]);
  }
}

const check = Compile(NetworksFile);

/** The text of a networks file. Mistakes are in the order of the file's fields. */
export function parseNetworks(text: string): { networks: ConfiguredNetworks; mistakes: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      networks: {},
      mistakes: [`it is not JSON${placeOf(error)}: compare brackets, commas and quotes`],
    };
  }
  if (!check.Check(value)) return { networks: {}, mistakes: shapeMistakes(value) };
  const { erc20, trc20, spl } = value.networks;
  if (erc20 === undefined)
    return { networks: {}, mistakes: ['networks.erc20 is missing: name a network there'] };
  const mistakes: string[] = [];
  const complainOf =
    (network: string): Complain =>
    (field, wrong) =>
      mistakes.push(`networks.${network}.${field} ${wrong}`);
  const networks: ConfiguredNetworks & { erc20: EvmNetwork } = {
    erc20: readEntry(erc20, complainOf('erc20')),
  };
  if (trc20 !== undefined) networks.trc20 = readTronEntry(trc20, complainOf('trc20'));
  if (spl !== undefined) networks.spl = readSolanaEntry(spl, complainOf('spl'));
  // One set of books: coins without value would pay for what real ones are owed for.
  for (const [name, beside] of Object.entries({ trc20, spl })) {
    const isSaid = mistakes.some((mistake) => mistake.startsWith(`networks.${name}.test `));
    if (beside === undefined || beside.test === erc20.test || isSaid) continue;
    const [one, other] = beside.test ? [name, 'erc20'] : ['erc20', name];
    mistakes.push(`networks.${one}.test is true and networks.${other}.test is not: remove networks.${name}`);
  }
  if (!erc20.test && Object.values({ trc20, spl }).some((beside) => beside?.test === false))
    checkReal(networks.erc20, complainOf('erc20'));
  return mistakes.length === 0 ? { networks, mistakes } : { networks: {}, mistakes };
}

/** Beside another network with real money, Ethereum with `"test": false` must be mainnet: else a faucet's coins count as real ones. */
function checkReal({ chainId, genesisHash, tokens }: EvmNetwork, complain: Complain): void {
  const beside = 'beside another network with "test": false';
  if (chainId !== MAINNET.chainId) complain('chain_id', `is not mainnet's, ${MAINNET.chainId}, ${beside}`);
  if (genesisHash !== MAINNET.genesisHash)
    complain('genesis_hash', `is not mainnet's, ${MAINNET.genesisHash}, ${beside}`);
  for (const asset of ASSETS) {
    const known = TOKEN_CONTRACTS.erc20[asset];
    if (tokens[asset] !== undefined && tokens[asset].address !== known)
      complain(`tokens.${asset}.address`, `is not the contract of ${asset} on mainnet, ${known}, ${beside}`);
  }
}

/** The parser's own message quotes the text, which may hold a key. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(error)) ?? [];
  return line === undefined ? '' : ` (line ${line}, column ${column})`;
}

function readEntry(entry: NetworkEntry, complain: Complain): EvmNetwork {
  const contracts = new Map<string, string>();
  const contract = (field: string, text: string): string => {
    try {
      const canonical = canonicalContract(text);
      const other = contracts.get(canonical);
      if (other !== undefined) complain(field, `is the address of ${other} too: give each its own`);
      contracts.set(canonical, field);
      return canonical;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      complain(field, error.message);
      return text;
    }
  };
  const tokens: Partial<Record<Asset, { address: string }>> = {};
  for (const asset of ASSETS) {
    const token = entry.tokens[asset];
    if (token !== undefined) tokens[asset] = { address: contract(`tokens.${asset}.address`, token.address) };
  }
  if (Object.keys(tokens).length === 0) complain('tokens', 'is empty: name USDT, USDC or both');
  const { batch_payout, sweeper, collector = null } = entry.contracts;
  const { fee_ceilings: fees, finality, explorer } = entry;
  checkFees(fees, complain);
  checkPublic(entry.public_endpoint ?? null, complain);
  checkExplorer(explorer, complain);
  return {
    name: entry.name,
    isTest: entry.test,
    endpoints: readEndpoints(entry.endpoints, complain),
    chainId: entry.chain_id,
    publicEndpoint: entry.public_endpoint ?? null,
    genesisHash: entry.genesis_hash,
    tokens,
    batchPayout: batch_payout === null ? null : contract('contracts.batch_payout', batch_payout),
    sweeper: sweeper === null ? null : contract('contracts.sweeper', sweeper),
    collector: collector === null ? null : contract('contracts.collector', collector),
    finality: { tag: finality.tag, earlyConfirmations: finality.early_confirmations },
    feeCeilings: {
      maxFeePerGas: BigInt(fees.max_fee_per_gas),
      maxPriorityFeePerGas: BigInt(fees.max_priority_fee_per_gas),
      gasPerTransaction: BigInt(fees.gas_per_transaction),
    },
    explorer,
  };
}

function checkFees(fees: NetworkEntry['fee_ceilings'], complain: Complain): void {
  if (BigInt(fees.max_fee_per_gas) === 0n)
    complain('fee_ceilings.max_fee_per_gas', 'is 0: nothing could be sent');
  if (BigInt(fees.max_priority_fee_per_gas) === 0n)
    complain('fee_ceilings.max_priority_fee_per_gas', 'is 0: nothing that is stuck could be replaced');
  if (BigInt(fees.max_priority_fee_per_gas) > BigInt(fees.max_fee_per_gas))
    complain('fee_ceilings.max_priority_fee_per_gas', 'is above max_fee_per_gas: lower it');
}

/** Wallets take nothing else; one with a password or a query most likely holds a key. */
function checkPublic(endpoint: string | null, complain: Complain): void {
  if (endpoint === null) return;
  const url = URL.parse(endpoint);
  const isEncrypted = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isEncrypted) complain('public_endpoint', 'must be a URL that begins with https://');
  else if (url.username !== '' || url.password !== '' || url.search !== '')
    complain('public_endpoint', 'is shown to every payer: give one without a password or query');
}

type ShapeError = ReturnType<typeof check.Errors>[number];

/** All of them: by default the library stops at the eighth, for the whole process. */
function allErrors(value: unknown): ShapeError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: ERRORS_MAX });
  try {
    return check.Errors(value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** One line for each place. A union reports each of its members: a line about what lies deeper says more. */
function shapeMistakes(value: unknown): string[] {
  const errors = allErrors(value).map((error) => ({ ...error, place: placeIn(error.instancePath) }));
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map(({ place }) => place));
  const lines = new Map<string, string>();
  for (const error of errors) {
    const { place, keyword } = error;
    const params: Record<string, unknown> = { ...error.params };
    const say = (names: unknown, wrong: string) => {
      for (const name of Array.isArray(names) ? names.map(String) : []) {
        // A URL that was written as a name would be shown.
        const shown = /^\w{1,40}$/.test(name) ? name : '(a field)';
        const field = place === '' ? shown : `${place}.${shown}`;
        lines.set(field, `${field} ${wrong}`);
      }
    };
    if (keyword === 'required') say(params.requiredProperties, 'is missing: add it');
    else if (keyword === 'additionalProperties')
      say(params.additionalProperties, 'is not a field of this file: remove it');
    else if (keyword !== 'boolean' && keyword !== 'anyOf' && !unions.has(place))
      lines.set(place, `${place === '' ? 'the file' : place} ${wrongValue(error, params)}`);
  }
  for (const { place, ...error } of errors.filter(({ keyword }) => keyword === 'anyOf')) {
    const isSaid = [...lines.keys()].some((known) => known.startsWith(`${place}.`));
    if (!isSaid) lines.set(place, `${place} ${wrongValue(error, {})}`);
  }
  return [...lines.values()];
}

function placeIn(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  return steps.reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  );
}

const TYPES: Record<string, string> = {
  object: 'an object: {…}',
  array: 'a list: […]',
  string: 'a text in quotes',
  boolean: 'true or false',
  integer: 'a whole number',
};

/** The values themselves stay unsaid. */
function wrongValue(error: ShapeError, params: Record<string, unknown>): string {
  const described = descriptionAt(error.schemaPath);
  if (described !== undefined) return `must be ${described}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (error.keyword === 'type') return `must be ${TYPES[String(params.type)] ?? String(params.type)}`;
  return error.message;
}

/** The description of the schema that refused: the last one on a path such as `#/properties/networks/type`. */
function descriptionAt(schemaPath: string): string | undefined {
  let found: unknown = NetworksFile;
  for (const step of schemaPath.split('/').slice(1)) {
    const next: unknown = typeof found === 'object' && found !== null ? Reflect.get(found, step) : undefined;
    if (typeof next !== 'object' || next === null) break;
    found = next;
  }
  if (typeof found !== 'object' || found === null || !('description' in found)) return undefined;
  return typeof found.description === 'string' ? found.description : undefined;
}

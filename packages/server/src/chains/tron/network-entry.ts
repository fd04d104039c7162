import type { Asset } from '@florin/contract/money';
import { readTronAddress } from '@florin/signer/tron';
import Type, { type Static } from 'typebox';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import { type Complain, checkExplorer, ExplorerEntry, readEndpoints, readTokens } from '../rpc/entries.ts';
import type { TronNetwork } from './network.ts';

const closed = { additionalProperties: false };
const MAINNET = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
/** What a payment to somebody who never held the token may need, at 100 sun for energy. */
const FEE_LIMIT_MIN = 16_000_000n;
/** The same where energy is as dear as it has ever been on mainnet, 420 sun: producers may vote for that while payments run. */
const FEE_LIMIT_MIN_REAL = 70_000_000n;
/** What a charge may need, as `COLLECTOR_ENERGY` has it. */
const FEE_LIMIT_CHARGES = 30_000_000n;
/** The network's own limit. */
const FEE_LIMIT_MAX = 15_000_000_000n;

const Token = Type.Object(
  {
    address: Type.String({ description: 'the address of a token, T and 33 letters' }),
    decimals: Type.Literal(6),
  },
  closed,
);

/** A plain node serves its two views on two ports: `solid_url` is where `/walletsolidity` is, where `url` does not have it. */
const Endpoints = Type.Array(
  Type.Union([
    Type.String(),
    Type.Object({ url: Type.String(), own: Type.Boolean(), solid_url: Type.Optional(Type.String()) }, closed),
  ]),
  { minItems: 1, maxItems: 8, description: 'a list of 1 to 8 endpoints' },
);

/** A Tron network as it stands in the networks file. */
export const TronEntry = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 60, description: 'a name of 1 to 60 characters' }),
    test: Type.Boolean(),
    endpoints: Endpoints,
    /** A local node that was started again has another one. */
    genesis_hash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'the blockID of block 0, 64 small hex digits',
    }),
    tokens: Type.Object({ USDT: Type.Optional(Token), USDC: Type.Optional(Token) }, closed),
    /** Absent: no wallet is charged. */
    contracts: Type.Optional(
      Type.Object(
        {
          collector: Type.Union([Type.String(), Type.Null()], {
            description: 'the address of the contract, T and 33 letters, or null',
          }),
        },
        closed,
      ),
    ),
    fee_ceilings: Type.Object(
      {
        fee_limit: Type.String({
          pattern: '^[1-9][0-9]{0,10}$',
          description: 'sun in decimal digits, as text',
        }),
      },
      closed,
    ),
    explorer: ExplorerEntry,
  },
  closed,
);
export type TronEntry = Static<typeof TronEntry>;

export function readTronEntry(entry: TronEntry, complain: Complain): TronNetwork {
  const isAddress = (text: string) => readTronAddress(text) !== undefined;
  const { USDT, USDC } = readTokens(
    entry.tokens,
    { isAddress, what: 'the address of a token, T and 33 letters' },
    complain,
  );
  if (entry.test && entry.genesis_hash === MAINNET)
    complain('test', 'is true, and the first block is that of mainnet, where coins have a value');
  if (!entry.test) checkReal(entry, { USDT, USDC }, complain);
  const feeLimit = BigInt(entry.fee_ceilings.fee_limit);
  const least = entry.test ? FEE_LIMIT_MIN : FEE_LIMIT_MIN_REAL;
  if (feeLimit < least || feeLimit > FEE_LIMIT_MAX)
    complain('fee_ceilings.fee_limit', `must be from ${least} to ${FEE_LIMIT_MAX} sun`);
  const collector = entry.contracts?.collector ?? null;
  if (collector !== null) checkCollector(collector, { tokens: [USDT, USDC], feeLimit }, complain);
  checkExplorer(entry.explorer, complain);
  return {
    name: entry.name,
    isTest: entry.test,
    endpoints: readEndpoints(entry.endpoints, complain),
    genesisHash: entry.genesis_hash,
    tokens: {
      ...(USDT !== undefined && { USDT: { contract: USDT } }),
      ...(USDC !== undefined && { USDC: { contract: USDC } }),
    },
    collector,
    feeCeilings: { feeLimit },
    explorer: entry.explorer,
  };
}

/** Real money is on one chain, in one token. Nobody may charge wallets there yet. */
function checkReal(
  { genesis_hash: genesis, contracts }: TronEntry,
  { USDT, USDC }: Record<Asset, string | undefined>,
  complain: Complain,
): void {
  const real = TOKEN_CONTRACTS.trc20.USDT;
  if (genesis !== MAINNET) complain('genesis_hash', `must be ${MAINNET} where test is false`);
  if (USDT !== real) complain('tokens.USDT.address', `must be ${real} where test is false`);
  if (USDC !== undefined)
    complain('tokens.USDC', 'has no issuer on this network any more: remove it where test is false');
  if (contracts !== undefined && contracts.collector !== null)
    complain(
      'contracts.collector',
      'must be null where test is false: no wallet is charged with real money yet',
    );
}

function checkCollector(
  collector: string,
  { tokens, feeLimit }: { tokens: readonly (string | undefined)[]; feeLimit: bigint },
  complain: Complain,
): void {
  if (readTronAddress(collector) === undefined)
    complain('contracts.collector', 'must be the address of the contract, T and 33 letters');
  if (tokens.includes(collector)) complain('contracts.collector', 'is the address of a token');
  if (feeLimit < FEE_LIMIT_CHARGES)
    complain('fee_ceilings.fee_limit', `must be at least ${FEE_LIMIT_CHARGES} sun where wallets are charged`);
}

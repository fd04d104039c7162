import { ASSETS, type Asset } from '@florin/contract/money';
import { readSolanaAddress } from '@florin/signer/solana';
import Type, { type Static } from 'typebox';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import {
  type Complain,
  checkExplorer,
  EndpointEntries,
  ExplorerEntry,
  readEndpoints,
  readTokens,
} from '../rpc/entries.ts';
import { MAINNET, type SolanaNetwork } from './network.ts';

const closed = { additionalProperties: false };
/** The network's own limit. */
const COMPUTE_UNITS_MAX = 1_400_000;
/** What a payment of eight items needs. */
const COMPUTE_UNITS_MIN = 500_000;

const Token = Type.Object(
  { address: Type.String({ description: 'the address of a mint, in base58' }), decimals: Type.Literal(6) },
  closed,
);

/** A Solana network as it stands in the networks file. */
export const SolanaEntry = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 60, description: 'a name of 1 to 60 characters' }),
    test: Type.Boolean(),
    endpoints: EndpointEntries,
    /** A local node that was started again has another one. */
    genesis_hash: Type.String({
      pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$',
      description: 'what getGenesisHash of a node gives, in base58',
    }),
    tokens: Type.Object({ USDT: Type.Optional(Token), USDC: Type.Optional(Token) }, closed),
    fee_ceilings: Type.Object(
      {
        compute_units: Type.Integer({
          minimum: COMPUTE_UNITS_MIN,
          maximum: COMPUTE_UNITS_MAX,
          description: `a number from ${COMPUTE_UNITS_MIN} to ${COMPUTE_UNITS_MAX}`,
        }),
        priority_fee: Type.String({
          pattern: '^(0|[1-9][0-9]{0,11})$',
          description: 'lamports in decimal digits, as text',
        }),
      },
      closed,
    ),
    explorer: ExplorerEntry,
  },
  closed,
);
export type SolanaEntry = Static<typeof SolanaEntry>;

/** Real money is on one chain, in the mints of its issuers: whoever names another one by mistake would be paid in coins of nobody's. */
function checkReal(
  genesisHash: string,
  mints: Readonly<Record<Asset, string | undefined>>,
  complain: Complain,
): void {
  if (genesisHash !== MAINNET)
    complain('genesis_hash', `is not that of mainnet, ${MAINNET}: where test is false no other network is`);
  for (const asset of ASSETS) {
    const known = TOKEN_CONTRACTS.spl[asset];
    if (mints[asset] !== undefined && mints[asset] !== known)
      complain(`tokens.${asset}.address`, `is not the mint of ${asset} on mainnet, ${known}`);
  }
}

export function readSolanaEntry(entry: SolanaEntry, complain: Complain): SolanaNetwork {
  const isAddress = (text: string) => readSolanaAddress(text) !== undefined;
  const { USDT, USDC } = readTokens(
    entry.tokens,
    { isAddress, what: 'the address of a mint, in base58' },
    complain,
  );
  if (entry.test && entry.genesis_hash === MAINNET)
    complain(
      'genesis_hash',
      'is that of mainnet, whose coins have value: name another network, or "test": false',
    );
  if (!entry.test) checkReal(entry.genesis_hash, { USDT, USDC }, complain);
  checkExplorer(entry.explorer, complain);
  return {
    name: entry.name,
    isTest: entry.test,
    endpoints: readEndpoints(entry.endpoints, complain),
    genesisHash: entry.genesis_hash,
    tokens: {
      ...(USDT !== undefined && { USDT: { mint: USDT } }),
      ...(USDC !== undefined && { USDC: { mint: USDC } }),
    },
    feeCeilings: {
      computeUnits: entry.fee_ceilings.compute_units,
      priorityFee: BigInt(entry.fee_ceilings.priority_fee),
    },
    explorer: entry.explorer,
  };
}

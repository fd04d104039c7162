import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { EvmNetwork } from '../evm/network.ts';
import type { SolanaNetwork } from '../solana/network.ts';
import type { TronNetwork } from '../tron/network.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    /** Which chain the money of a network is on. */
    live_network: { network: Network; chain: string; is_test: boolean };
  }
}

/** The database was used with another chain than the networks file names. */
export class OtherChain extends Error {
  constructor(network: Network) {
    super(
      `This database has accounts on another chain of ${network} than the networks file names: its coins would be owed for with those of ` +
        'another chain. Use a new database, or name the chain of before',
    );
  }
}

interface NamedChains {
  network: Pick<EvmNetwork, 'chainId' | 'genesisHash' | 'isTest'>;
  tron?: Pick<TronNetwork, 'genesisHash' | 'isTest'> | undefined;
  solana?: Pick<SolanaNetwork, 'genesisHash' | 'isTest'> | undefined;
}

/**
 * Stores which chain each network is, and compares it from the first account on: balances of a test network, and cursors above the head of
 * another chain, would stay behind unseen.
 *
 * @throws OtherChain
 */
export async function pinChains(db: Db, { network, tron, solana }: NamedChains): Promise<void> {
  // Forks of Ethereum begin with one block.
  await pin(db, 'erc20', { chain: `${network.chainId} ${network.genesisHash}`, isTest: network.isTest });
  if (tron !== undefined) await pin(db, 'trc20', { chain: tron.genesisHash, isTest: tron.isTest });
  if (solana !== undefined) await pin(db, 'spl', { chain: solana.genesisHash, isTest: solana.isTest });
}

async function pin(
  db: Db,
  network: Network,
  { chain, isTest }: { chain: string; isTest: boolean },
): Promise<void> {
  await sql`
    insert into live_network as known (network, chain, is_test) values (${network}, ${chain}, ${isTest})
    on conflict (network) do update set chain = excluded.chain, is_test = excluded.is_test
    where (known.chain, known.is_test) is distinct from (excluded.chain, excluded.is_test)
      and not exists (select from chain_account a where a.network = known.network)`.execute(db);
  const known = await db
    .selectFrom('live_network')
    .select(['chain', 'is_test'])
    .where('network', '=', network)
    .executeTakeFirstOrThrow();
  if (known.chain !== chain || known.is_test !== isTest) throw new OtherChain(network);
}

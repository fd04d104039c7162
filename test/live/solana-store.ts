import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from '../chains/solana/environment.ts';
import { KEYS } from '../chains/solana/key-signer.ts';
import { startService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { ETHEREUM_AWAY, writeNetworksFile } from './ethereum-away.ts';
import { LocalStore, openMerchant } from './local-store.ts';

interface SolanaStoreOptions {
  /** False: workers are processes of the test. */
  worker?: boolean;
  /** An empty database; by default one of its own. */
  databaseUrl?: string;
}

/** A live store on a local Solana, with a signer behind its socket. Nothing answers for Ethereum. */
export class SolanaStore extends LocalStore<SolanaEnvironment> {
  static async start({ worker = true, databaseUrl }: SolanaStoreOptions = {}): Promise<SolanaStore> {
    const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-solana-'));
    const local = await SolanaEnvironment.start();
    const { genesisHash, feeCeilings, tokens } = local.network;
    const signer = await startWholeSigner((policy) => {
      Object.assign(policy.networks.spl, {
        genesis: genesisHash,
        tokens: { USDT: tokens.USDT?.mint, USDC: tokens.USDC?.mint },
        compute_units: feeCeilings.computeUnits,
        priority_fee: String(feeCeilings.priorityFee),
        // Of a full run of kills, or of a thousand new accounts of recipients, each transaction at its dearest.
        native_fee_per_day: '10000000000',
      });
      policy.payouts.approve_above = '1000.00';
      policy.refunds.approve_above = '1000.00';
    });
    const masterKey = randomBytes(32);
    const logged: Record<string, unknown>[] = [];
    const service = await startService({
      worker,
      ...(databaseUrl !== undefined && { databaseUrl }),
      masterKey,
      log: createLogger('error', { write: (line) => void logged.push(JSON.parse(line)) }),
      live: { network: ETHEREUM_AWAY, solana: local.network, signer: { socket: signer.socket } },
    });
    const merchant = await openMerchant(service, 'spl');
    await settingCommands(service.app).set('refunds.delay_seconds', '0');
    const stop = async () => {
      await service.stop();
      await signer.stop();
      await local.node.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    const env = {
      FLORIN_NETWORKS_FILE: writeNetworks(folder, local),
      FLORIN_SIGNER: `unix:${signer.socket}`,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
    };
    return new SolanaStore({
      local,
      network: 'spl',
      asset: 'USDC',
      finalBlocks: FINAL_BLOCKS,
      blocksAtOnce: 2,
      service,
      merchant,
      signer,
      env,
      logged,
      stop,
    });
  }

  /** The signer has named the first deposit addresses. */
  override async untilNamed(): Promise<void> {
    const named = async () => ({ first: await this.chain.sender('deposit:0').catch(() => undefined) });
    await this.until(named, { first: KEYS.deposit(1, 0).address });
  }
}

/** As an operator writes it. @returns the file */
export function writeNetworks(
  folder: string,
  { node, network }: SolanaEnvironment,
  genesisHash = network.genesisHash,
): string {
  const { USDT, USDC } = network.tokens;
  const token = (one: { mint: string } | undefined) => ({ address: one?.mint ?? '', decimals: 6 });
  const spl = {
    name: 'Solana',
    test: true,
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: genesisHash,
    tokens: { USDT: token(USDT), USDC: token(USDC) },
    fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
    explorer: null,
  };
  return writeNetworksFile(folder, { spl });
}

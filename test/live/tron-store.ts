import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { FINAL_BLOCKS, TronEnvironment } from '../chains/tron/environment.ts';
import { KEYS } from '../chains/tron/key-signer.ts';
import { TRX } from '../nodes/tron-client.ts';
import { startService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { ETHEREUM_AWAY, writeNetworksFile } from './ethereum-away.ts';
import { LocalStore, openMerchant } from './local-store.ts';

interface TronStoreOptions {
  /** False: workers are processes of the test. */
  worker?: boolean;
  /** Of the wallet that gives the others TRX. */
  tank?: number;
  /** False: blocks are as far apart as on mainnet, and looked for as there. */
  isTest?: boolean;
  /** An empty database; by default one of its own. */
  databaseUrl?: string;
}

/** A live store on a local Tron, with a signer behind its socket. Nothing answers for Ethereum. */
export class TronStore extends LocalStore<TronEnvironment> {
  static async start({
    worker = true,
    tank = 0,
    isTest = true,
    databaseUrl,
  }: TronStoreOptions = {}): Promise<TronStore> {
    const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-tron-'));
    const local = await TronEnvironment.start();
    const { genesisHash, feeCeilings, collector } = local.network;
    const signer = await startWholeSigner(
      (policy) => {
        Object.assign(policy.networks.trc20, {
          genesis: genesisHash,
          tokens: { USDT: local.token('USDT'), USDC: local.token('USDC') },
          collector,
          fee_limit: String(feeCeilings.feeLimit),
          // Of a full run of kills, each transaction at its dearest.
          native_fee_per_day: String(100_000 * TRX),
          gas_top_up: String(100 * TRX),
          gas_top_ups_per_day: String(100_000 * TRX),
        });
        policy.payouts.approve_above = '1000.00';
        Object.assign(policy.refunds, { approve_above: '1000.00', resend_per_day: '1000.00' });
      },
      // Blocks are made by hand, each 3 seconds after the one before.
      () => local.node.chain.head.time,
    );
    const masterKey = randomBytes(32);
    const logged: Record<string, unknown>[] = [];
    const service = await startService({
      worker,
      ...(databaseUrl !== undefined && { databaseUrl }),
      masterKey,
      log: createLogger('error', { write: (line) => void logged.push(JSON.parse(line)) }),
      live: { network: ETHEREUM_AWAY, tron: { ...local.network, isTest }, signer: { socket: signer.socket } },
    });
    const merchant = await openMerchant(service, 'trc20');
    await settingCommands(service.app).set('refunds.delay_seconds', '0');
    if (tank > 0) local.node.fund(KEYS.hot(0).address, tank);
    await local.mine(FINAL_BLOCKS);
    const env = {
      FLORIN_NETWORKS_FILE: writeNetworks(folder, local),
      FLORIN_SIGNER: `unix:${signer.socket}`,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
    };
    const stop = async () => {
      await service.stop();
      await signer.stop();
      await local.node.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    return new TronStore({
      local,
      network: 'trc20',
      asset: 'USDT',
      finalBlocks: FINAL_BLOCKS,
      blocksAtOnce: 1,
      service,
      merchant,
      signer,
      env,
      logged,
      stop,
    });
  }
}

/** As an operator writes it. @returns the file */
export function writeNetworks(
  folder: string,
  { node, network }: Pick<TronEnvironment, 'node' | 'network'>,
  genesisHash = network.genesisHash,
): string {
  const trc20 = {
    name: 'Tron',
    test: true,
    endpoints: [{ url: node.url, own: true, solid_url: node.url }],
    genesis_hash: genesisHash,
    tokens: { USDT: { address: network.tokens.USDT?.contract, decimals: 6 } },
    contracts: { collector: network.collector },
    fee_ceilings: { fee_limit: String(network.feeCeilings.feeLimit) },
    explorer: null,
  };
  return writeNetworksFile(folder, { trc20 });
}

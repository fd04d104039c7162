import { type LiveConfig, NetworksFileWrong, readNetworksFile } from './chains/index.ts';
import { type Config, ConfigError, isLocal } from './platform/config.ts';

/** What live merchants need, of which all or nothing is set. @throws ConfigError with one line */
export function liveConfig({ networksFile, signer, outbound }: Config): LiveConfig | undefined {
  if (networksFile === undefined && signer === undefined) return undefined;
  if (networksFile === undefined)
    throw new ConfigError('FLORIN_SIGNER is set without FLORIN_NETWORKS_FILE: name the networks as well.');
  if (signer === undefined)
    throw new ConfigError('FLORIN_NETWORKS_FILE is set without FLORIN_SIGNER: name the signer as well.');
  try {
    const { erc20: network, trc20: tron, spl: solana } = readNetworksFile(networksFile);
    return network && { network, tron, solana, signer, ca: outbound.ca };
  } catch (error) {
    if (error instanceof NetworksFileWrong) throw new ConfigError(`FLORIN_NETWORKS_FILE: ${error.message}.`);
    throw error;
  }
}

/**
 * For the sandbox, which holds live merchants so that a local node or a test network can be tried.
 *
 * @throws ConfigError where money of others would lie in it
 */
export function checkLiveInSandbox(config: Config): void {
  const live = liveConfig(config);
  if (live === undefined) return;
  if (!isLocal(config))
    throw new ConfigError(
      'FLORIN_NETWORKS_FILE is set, and the sandbox holds live merchants on loopback only: run florin serve and florin work.',
    );
  if (config.databaseUrl === undefined && !live.network.isTest)
    throw new ConfigError(
      `${live.network.name} has real money, which needs a PostgreSQL of your own with backups: set DATABASE_URL, or run florin serve and florin work.`,
    );
}

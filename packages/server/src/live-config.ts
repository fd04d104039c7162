import type { LiveConfig } from './app.ts';
import { NetworksFileWrong, readNetworksFile } from './chains/index.ts';
import { type Config, ConfigError } from './platform/config.ts';

/** What live merchants need, of which all or nothing is set. @throws ConfigError with one line */
export function liveConfig({ networksFile, signer, outbound }: Config): LiveConfig | undefined {
  if (networksFile === undefined && signer === undefined) return undefined;
  if (networksFile === undefined)
    throw new ConfigError('FLORIN_SIGNER is set without FLORIN_NETWORKS_FILE: name the networks as well.');
  if (signer === undefined)
    throw new ConfigError('FLORIN_NETWORKS_FILE is set without FLORIN_SIGNER: name the signer as well.');
  try {
    const { erc20: network } = readNetworksFile(networksFile);
    return network && { network, signer, ca: outbound.ca };
  } catch (error) {
    if (error instanceof NetworksFileWrong) throw new ConfigError(`FLORIN_NETWORKS_FILE: ${error.message}.`);
    throw error;
  }
}

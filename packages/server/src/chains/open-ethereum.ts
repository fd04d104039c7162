import type { LiveEthereum, LiveOptions } from './evm/live.ts';

/**
 * Opens Ethereum for live merchants. Its libraries are loaded here and not at the start of every process: they take 30 MB,
 * and a sandbox needs none of them.
 */
export async function openEthereum(options: LiveOptions): Promise<LiveEthereum> {
  const { LiveEthereum } = await import('./evm/live.ts');
  return new LiveEthereum(options);
}

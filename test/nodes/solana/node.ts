import { type ChainOptions, SolanaChain } from './chain.ts';
import { SolanaControls } from './controls.ts';
import { type Endpoint, openEndpoint } from './rpc.ts';

export interface SolanaNodeOptions extends ChainOptions {
  /** 0 takes a free one, which is the default. */
  port?: number;
  /**
   * instant: a block for each transaction that is sent · byHand: `chain.produce()` alone · a number: one each so many
   * milliseconds, as every 400 on mainnet
   */
  blocks?: 'instant' | 'byHand' | number;
}

/** A local Solana of one process, on 127.0.0.1. */
export interface SolanaNode {
  url: string;
  chain: SolanaChain;
  controls: SolanaControls;
  /** The first endpoint. */
  endpoint: Endpoint;
  /** Another provider's node on the same chain, with its own lag and faults. */
  open(): Promise<Endpoint>;
  stop(): Promise<void>;
}

/** Starts a chain with nothing on it but the programs. */
export async function startSolanaNode(options: SolanaNodeOptions = {}): Promise<SolanaNode> {
  const { port = 0, blocks = 'instant' } = options;
  const chain = new SolanaChain(options);
  const sent = () => {
    if (blocks === 'instant') chain.produce();
  };
  const endpoint = await openEndpoint(chain, { port, sent });
  const endpoints = [endpoint];
  const timer = typeof blocks === 'number' ? setInterval(() => chain.produce(), blocks) : undefined;
  return {
    url: endpoint.url,
    chain,
    controls: await SolanaControls.on(chain),
    endpoint,
    async open() {
      const another = await openEndpoint(chain, { sent });
      endpoints.push(another);
      return another;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(endpoints.map((one) => one.stop()));
    },
  };
}

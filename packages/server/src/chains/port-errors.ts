import type { Network } from '@florin/contract/money';

/** The network could not be reached, or its answer was unusable. The outcome of a call that sent something is unknown. */
export class ChainUnavailable extends Error {
  readonly network: Network;

  constructor(network: Network, detail: string, cause?: unknown) {
    super(`${network}: ${detail}`, { cause });
    this.network = network;
  }
}

/** The spec breaks a rule of the network: too many items, a bad address, no sequence. */
export class UnbuildableTransfer extends Error {}

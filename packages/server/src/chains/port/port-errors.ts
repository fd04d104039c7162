import type { Network } from '@florin/contract/money';

/** The network could not be reached, or its answer was unusable. The outcome of a call that sent something is unknown. */
export class ChainUnavailable extends Error {
  readonly network: Network;

  constructor(network: Network, detail: string, cause?: unknown) {
    super(`${network}: ${detail}`, { cause });
    this.network = network;
  }
}

/** Endpoints answered the same question differently. What was asked together with others may be agreed on when it is asked apart. */
export class AnswersDiffer extends ChainUnavailable {}

/** The network has no deposit address left to give out: its pool is filled again by those who hold the keys. */
export class AddressPoolEmpty extends Error {
  constructor(network: Network) {
    super(`${network}: no deposit address is left`);
  }
}

/** The spec breaks a rule of the network: too many items, a bad address, no sequence. */
export class UnbuildableTransfer extends Error {}

/** Why a signer that was reached signed nothing; `fee` is the network's own ceiling too. `tank`, `reverts`: not asked, as the gas tank is low, or the payment would fail now. */
export type BlockReason =
  | 'tank'
  | 'reverts'
  | 'frozen'
  | 'approvals'
  | 'limit'
  | 'fee'
  | 'policy'
  | 'purpose'
  | 'epoch'
  | 'item_signed'
  | 'journal'
  | 'invalid_request';

/**
 * Nothing was signed, and asking again changes nothing before a person has acted: thawed the signer, approved, raised a
 * limit, filled the gas tank. The attempt keeps its sequence and waits.
 */
export class SigningBlocked extends Error {
  readonly network: Network;
  readonly reason: BlockReason;

  constructor(network: Network, reason: BlockReason, detail: string) {
    super(`${network}: ${detail}`);
    this.network = network;
    this.reason = reason;
  }
}

/**
 * The network's fees are at the ceiling that the operator has set. A new transaction waits until they fall; a stuck one
 * cannot be replaced and is watched as it is.
 */
export class FeeCeilingReached extends SigningBlocked {
  constructor(network: Network, detail: string) {
    super(network, 'fee', detail);
  }
}

/** The signer could not be reached, or its answer is not what was asked for: ask again later, as with a node that is away. */
export class SignerUnavailable extends ChainUnavailable {}

import type { Network } from '@florin/contract/money';
import type { Logger } from '../../platform/observability/index.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { NodeRequest, RpcNode } from './node.ts';

const CHECK_EVERY_MS = 3_600_000;
/** Somebody corrects it, or one answer was a node's mistake. */
const CHECK_WRONG_EVERY_MS = 60_000;

interface CheckedNetwork {
  network: Network;
  /** As the operator named it. */
  name: string;
  log: Logger;
}

/**
 * Compares what the nodes show of a network with the networks file, before the first call and each hour. A mistake stops this network,
 * and nothing else, with one line in the log.
 */
export class NetworkCheck {
  readonly #of: CheckedNetwork;
  readonly #findMistake: () => Promise<string | undefined>;
  #checked: { atMs: number; mistake: string | undefined } | undefined;
  #checking: Promise<void> | undefined;

  constructor(of: CheckedNetwork, findMistake: () => Promise<string | undefined>) {
    this.#of = of;
    this.#findMistake = findMistake;
  }

  /** @throws ChainUnavailable where the network is stopped, or nothing shows that it is right */
  async assertRight(): Promise<void> {
    const everyMs = this.#checked?.mistake === undefined ? CHECK_EVERY_MS : CHECK_WRONG_EVERY_MS;
    if (this.#checked === undefined || performance.now() - this.#checked.atMs > everyMs) {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined;
      });
      await this.#checking;
    }
    const mistake = this.#checked?.mistake;
    if (mistake !== undefined)
      throw new ChainUnavailable(this.#of.network, `the network is stopped: ${mistake}`);
  }

  async #check(): Promise<void> {
    const mistake = await this.#findMistake();
    const { name, log } = this.#of;
    if (mistake !== undefined && mistake !== this.#checked?.mistake)
      log.error(`${name} is stopped: ${mistake}. Correct the networks file and start again.`);
    this.#checked = { atMs: performance.now(), mistake };
  }
}

/** What every network's node answers, once its check was passed. */
export abstract class CheckedRpc<Node extends RpcNode> implements RpcNode {
  readonly #node: Node;
  readonly #check: NetworkCheck;

  constructor(node: Node, check: NetworkCheck) {
    this.#node = node;
    this.#check = check;
  }

  /** The node. @throws ChainUnavailable while it is not the one that was configured */
  protected async checked(): Promise<Node> {
    await this.#check.assertRight();
    return this.#node;
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    return await (await this.checked()).call(method, params);
  }

  async agreed(method: string, params: readonly unknown[]): Promise<unknown> {
    return await (await this.checked()).agreed(method, params);
  }

  async callMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await (await this.checked()).callMany(requests);
  }

  async agreedMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await (await this.checked()).agreedMany(requests);
  }
}

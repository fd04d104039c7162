import type { HeadFeed } from './heads.ts';
import type { SolanaNode } from './node.ts';
import { type AmountsQuery, readPresent } from './token-accounts.ts';

/**
 * The token accounts of hot wallets that are there in a final block, as two endpoints have it. They stay: the wallet's key alone could
 * close one, and nothing of ours does. Opening one again would do nothing, but the signer counts its rent, which it cannot know to be paid.
 */
export class OpenAccounts {
  readonly #known = new Set<string>();
  readonly #context: { node: SolanaNode; feed: HeadFeed };

  constructor(context: { node: SolanaNode; feed: HeadFeed }) {
    this.#context = context;
  }

  /** @throws ChainUnavailable */
  async among(asked: AmountsQuery['accounts']): Promise<ReadonlySet<string>> {
    const { node, feed } = this.#context;
    const accounts = asked.filter(({ account }) => !this.#known.has(account));
    if (accounts.length > 0) {
      const { final } = await feed.heads();
      const reads = { commitment: 'finalized', minSlot: final.slot, endpoints: 'two' } as const;
      for (const account of await readPresent(node, { accounts, ...reads })) this.#known.add(account);
    }
    return new Set(asked.map(({ account }) => account).filter((account) => this.#known.has(account)));
  }
}

import type { TokenAccounts } from '../../../packages/server/src/chains/solana/derive-accounts.ts';

/** Token accounts in memory, as a table keeps them. */
export class MemoryAccounts implements TokenAccounts {
  readonly #known = new Map<string, string>();

  async find(owners: readonly string[], mint: string): Promise<ReadonlyMap<string, string>> {
    return new Map(
      owners.flatMap((owner) => {
        const account = this.#known.get(`${owner} ${mint}`);
        return account === undefined ? [] : [[owner, account] as const];
      }),
    );
  }

  async save(accounts: ReadonlyMap<string, string>, mint: string): Promise<void> {
    for (const [owner, account] of accounts) this.#known.set(`${owner} ${mint}`, account);
  }
}

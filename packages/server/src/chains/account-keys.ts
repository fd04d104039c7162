import type { Logger } from '../platform/observability/index.ts';
import type { AccountSource, Accounts, ChainAccount } from './accounts.ts';

// Deposit addresses are derived from keys that the database holds. Coins that are paid to them can be moved by the signer
// only while those are its own keys: after a start with another seed, or a row that somebody changed, they would be lost.

const AGAIN_MS = 60_000;

/**
 * Asks the signer for the key of each account.
 *
 * @returns the accounts whose stored key is another
 * @throws ChainUnavailable while the signer does not answer
 */
export async function findForeignKeys(
  accounts: readonly ChainAccount[],
  source: Pick<AccountSource, 'keyOf'>,
): Promise<ChainAccount[]> {
  const foreign: ChainAccount[] = [];
  for (const account of accounts)
    if ((await source.keyOf(account.account)) !== account.extendedPublicKey) foreign.push(account);
  return foreign;
}

/**
 * Compares the key of each account with the signer's, once: when the process starts, or within a minute after the account was
 * opened. The process stops using an account with another key, so that nobody pays to it. While the signer does not answer,
 * accounts are used unchecked, because payments must not depend on the signer.
 */
export class AccountKeyChecks {
  readonly #accounts: Accounts;
  readonly #source: Pick<AccountSource, 'keyOf'>;
  readonly #log: Logger;
  readonly #confirmed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(accounts: Accounts, source: Pick<AccountSource, 'keyOf'>, log: Logger) {
    this.#accounts = accounts;
    this.#source = source;
    this.#log = log;
  }

  start(): void {
    void this.check();
    this.#timer = setInterval(() => void this.check(), AGAIN_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async check(): Promise<void> {
    const open = this.#accounts.list().filter((account) => !this.#confirmed.has(nameOf(account)));
    try {
      const foreign = await findForeignKeys(open, this.#source);
      for (const account of open) this.#confirmed.add(nameOf(account));
      for (const account of foreign) this.#refuse(account);
    } catch (error) {
      this.#log.warn({ err: error }, 'the keys of the accounts could not be compared with the signer');
    }
  }

  #refuse(account: ChainAccount): void {
    this.#accounts.refuse(account);
    const { merchantId, network, account: number } = account;
    this.#log.error(
      { merchant_id: merchantId, network, account: number },
      "the database holds a key of this account that is not the signer's: the account is used no more",
    );
  }
}

const nameOf = ({ network, account, extendedPublicKey }: ChainAccount) =>
  `${network} ${account} ${extendedPublicKey}`;

import type { Network } from '@florin/contract/money';
import { type Generated, sql } from 'kysely';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { type Db, transact } from '../platform/db/index.ts';

// A live merchant has an account on each network: a number, from which the signer derives its keys, and the extended public
// key, from which this service derives its deposit addresses. Numbers are given once, for ever.

declare module '../platform/db/db.ts' {
  interface Tables {
    chain_account: {
      network: Network;
      account: number;
      merchant_id: string;
      extended_public_key: string | null;
      begins_at: bigint | null;
      epoch: Generated<number>;
      cold_owner: string | null;
      created_at: bigint | number;
    };
  }
}

export interface ChainAccount {
  merchantId: string;
  network: Network;
  /** From 1; 0 is the installation's own. */
  account: number;
  /** BIP 32; on a network where no public key derives others, the address of its hot wallet. */
  extendedPublicKey: string;
  /** A block before which nobody can have paid to it. */
  beginsAt: bigint;
  /** Number of its present hot wallet: one more with each rotation. */
  epoch: number;
  /** Owner of its account at the collector, as the signer's policy named it before any mandate; null: the signer's own key. */
  coldOwner: string | null;
}

/** What the signer says of an account. */
export interface SignersAccount extends Pick<ChainAccount, 'extendedPublicKey' | 'epoch' | 'coldOwner'> {}

/** Where an account's facts come from. */
export interface AccountSource {
  /** Asks the signer. @throws ChainUnavailable while it does not answer */
  readAccount(account: number): Promise<SignersAccount>;
  /** A final height of the network. */
  height(): Promise<bigint>;
}

/**
 * Opens the account of a live merchant on a network. Its number is stored before the key is asked for, so a call that was
 * interrupted is repeated, and gets the same number. Who owns it at the collector is taken over afterwards (`takeColdOwner`).
 *
 * @param merchantId `NIL_ID` for the installation's own account, 0
 * @throws Error where the key belongs to another account
 */
export async function openAccount(
  db: Db,
  { merchantId, network }: Pick<ChainAccount, 'merchantId' | 'network'>,
  source: AccountSource,
  nowSeconds: number,
): Promise<ChainAccount> {
  const reserved = await transact(db, async (tx) => {
    // Numbers have no gap and no twin: one account is opened at a time.
    await sql`lock table chain_account in share row exclusive mode`.execute(tx);
    const known = await findRow(tx, merchantId, network);
    if (known !== undefined) return known;
    const { rows } = await sql<{
      account: number;
      extended_public_key: null;
      begins_at: null;
      epoch: number;
      cold_owner: null;
    }>`
      insert into chain_account (network, account, merchant_id, created_at)
      select ${network}, case when ${merchantId}::uuid = ${NIL_ID}::uuid then 0 else coalesce(max(account), 0) + 1 end,
        ${merchantId}::uuid, ${nowSeconds}::bigint
      from chain_account where network = ${network}
      returning account, extended_public_key, begins_at, epoch, cold_owner`.execute(tx);
    if (rows[0] === undefined) throw new Error('an insert of an account returned no row');
    return rows[0];
  });
  const { account, epoch, extended_public_key: key, cold_owner: coldOwner } = reserved;
  const extendedPublicKey = key ?? (await source.readAccount(account)).extendedPublicKey;
  const beginsAt = reserved.begins_at ?? (await source.height());
  const { numUpdatedRows } = await db
    .updateTable('chain_account')
    .set({ extended_public_key: extendedPublicKey, begins_at: beginsAt })
    .where('network', '=', network)
    .where('account', '=', account)
    .where((e) =>
      e.or([e('extended_public_key', 'is', null), e('extended_public_key', '=', extendedPublicKey)]),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw new Error(`the signer gave two keys for account ${account} on ${network}: check its seed`);
  return { merchantId, network, account, extendedPublicKey, beginsAt, epoch, coldOwner };
}

const findRow = (db: Db, merchantId: string, network: Network) =>
  db
    .selectFrom('chain_account')
    .select(['account', 'extended_public_key', 'begins_at', 'epoch', 'cold_owner'])
    .where('network', '=', network)
    .where('merchant_id', '=', merchantId)
    .executeTakeFirst();

/** All accounts whose key is known. */
async function listAccounts(db: Db): Promise<ChainAccount[]> {
  const rows = await db.selectFrom('chain_account').selectAll().execute();
  return rows.flatMap(({ merchant_id: merchantId, extended_public_key: key, begins_at, ...row }) => {
    const { network, account, epoch, cold_owner: coldOwner } = row;
    if (key === null) return [];
    const known = { merchantId, network, account, extendedPublicKey: key, epoch, coldOwner };
    return [{ ...known, beginsAt: begins_at ?? 0n }];
  });
}

const RELOAD_MIN_MS = 1_000;

/**
 * The accounts in this process's memory: whoever needs a chain needs it at once. An account that another process has opened
 * is read after the first question for it.
 */
export class Accounts {
  readonly #db: Db;
  #known = new Map<string, ChainAccount>();
  /** By merchant and network: number and key that the signer has named as its own. */
  readonly #confirmed = new Map<string, string>();
  /** By merchant, network, number and key: what is wrong for one account may be another one's key. */
  readonly #refused = new Set<string>();
  #loading: Promise<void> | undefined;
  #loadedAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db) {
    this.#db = db;
  }

  /** @returns undefined where there is none, or none yet: accounts are then read again, at most once a second */
  find(merchantId: string, network: Network): ChainAccount | undefined {
    const account = this.#known.get(nameOf({ merchantId, network }));
    // A question without an answer says so to its caller, and the next one finds what was read.
    if (account === undefined && performance.now() - this.#loadedAtMs >= RELOAD_MIN_MS)
      this.load().catch(() => undefined);
    return account;
  }

  /** As `find`, but reads accounts first where there is none, at most once a second. */
  async findNow(merchantId: string, network: Network): Promise<ChainAccount | undefined> {
    const known = this.find(merchantId, network);
    if (known === undefined && this.#loading !== undefined) await this.#loading;
    return known ?? this.#known.get(nameOf({ merchantId, network }));
  }

  /** Those that `find` answers with. */
  list(): ChainAccount[] {
    return [...this.#known.values()];
  }

  /** Uses an account with this number and key no more, for as long as the process runs. */
  refuse(account: ChainAccount): void {
    const name = nameOf(account);
    this.#refused.add(`${name} ${keyOf(account)}`);
    // Its row may have been put right, and read, while the signer was asked.
    const known = this.#known.get(name);
    if (known !== undefined && keyOf(known) === keyOf(account)) this.#known.delete(name);
  }

  /** Keeps number and key of an account, which the signer has named as its own, for as long as the process runs. */
  confirm(account: ChainAccount): void {
    this.#confirmed.set(nameOf(account), keyOf(account));
  }

  /**
   * Reads all accounts; concurrent calls share one read. An account number and key that the signer has confirmed never change, so a
   * changed row cannot redirect payers to another key. Unconfirmed ones come from the row.
   */
  load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #read(): Promise<void> {
    this.#loadedAtMs = performance.now();
    const stored = await listAccounts(this.#db);
    const used = stored.flatMap((row): [string, ChainAccount][] => {
      const name = nameOf(row);
      const known = this.#known.get(name);
      if (known !== undefined && this.#confirmed.get(name) === keyOf(known)) {
        const { account, beginsAt, extendedPublicKey } = known;
        return [[name, { ...row, account, beginsAt, extendedPublicKey }]];
      }
      return this.#refused.has(`${name} ${keyOf(row)}`) ? [] : [[name, row]];
    });
    this.#known = new Map(used);
  }
}

const keyOf = ({ account, extendedPublicKey }: Pick<ChainAccount, 'account' | 'extendedPublicKey'>): string =>
  `${account} ${extendedPublicKey}`;

const nameOf = ({ merchantId, network }: Pick<ChainAccount, 'merchantId' | 'network'>): string =>
  `${merchantId} ${network}`;

import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { type Db, isUnavailable } from '../platform/db/index.ts';
import type { Exchange } from '../platform/http/exchanges/index.ts';
import { TokenBuckets } from '../platform/http/index.ts';
import { isLineDue, type Logger } from '../platform/observability/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { apiKeyIn, findKeyOwner, type KeyOwner, readKeySecrets } from '../stores/key-owners/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { BodyBudget, withoutBodies } from './body-budget.ts';
import type { RefusalExplanation } from './explain/index.ts';
import { rowOf } from './row.ts';
import type { RequestLogRow } from './tables.ts';

/** An explanation takes milliseconds of CPU. One client must not take those of all. */
const EXPLAINED = { perSecond: 5, burst: 20 };
const EXPLAINED_OF_KEY = { perSecond: 1, burst: 5 };
/** Rows of requests that somebody sent with a key without its secret: 16 MB a day at most. */
const REFUSED_PER_DAY = 2_000;
const SECONDS_PER_DAY = 86_400;
const KEYS_MAX = 1_000;
/** Characters that are redacted in 3 to 5 ms where they need the thorough pass. Then requests have a turn. */
const TURN_LENGTH = 131_072;
/** What the other columns of a row take. */
const ROW_LENGTH = 512;

interface RowBuilderDeps {
  db: Db;
  vault: Vault;
  log: Logger;
}

/** `error`: a defect of this module, which must not take other rows with it. */
export type RowLoss = 'database' | 'error' | 'too_many_refused';

/** Lets the process do something else. */
type Pause = () => Promise<unknown>;

/** What redacting an exchange costs: about its texts, and a part that is the same for all. */
export function lengthOf({ answer, body, refusedBody, headers, url }: Exchange): number {
  let length = ROW_LENGTH + url.length;
  for (const name in headers) length += name.length + (headers[name] ?? '').length;
  return length + (answer?.length ?? 0) + (body?.length ?? 0) + (refusedBody?.length ?? 0);
}

/** Builds rows: finds whose the key of a refused request is, and explains the refusal. */
export class RowBuilder {
  readonly #deps: RowBuilderDeps;
  readonly #lose: (reason: RowLoss, error?: unknown) => void;
  readonly #pause: Pause;
  readonly #budget = new BodyBudget();
  readonly #explained = new TokenBuckets(EXPLAINED.perSecond, EXPLAINED.burst);
  readonly #explainedOfKey = new TokenBuckets(EXPLAINED_OF_KEY.perSecond, EXPLAINED_OF_KEY.burst, KEYS_MAX);
  readonly #refusedToday = new TokenBuckets(REFUSED_PER_DAY / SECONDS_PER_DAY, REFUSED_PER_DAY, KEYS_MAX);

  constructor(
    deps: RowBuilderDeps,
    lose: (reason: RowLoss, error?: unknown) => void,
    pause: Pause = untilNextTurn,
  ) {
    this.#deps = deps;
    this.#lose = lose;
    this.#pause = pause;
  }

  /** Never throws: an exchange without a row is lost alone. */
  async of(group: readonly Exchange[]): Promise<RequestLogRow[]> {
    const rows: RequestLogRow[] = [];
    const owners = new OwnerLookup(this.#deps.db);
    let length = 0;
    for (const exchange of group) {
      length += lengthOf(exchange);
      if (length > TURN_LENGTH) {
        await this.#pause();
        length = 0;
      }
      const owner = exchange.caller ?? (await this.#ownerOf(exchange, owners));
      const row = owner && (await this.#rowOf(exchange, owner));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** @returns undefined for a key that does not exist or has had its rows of the day, and where it cannot be known */
  async #ownerOf(exchange: Exchange, owners: OwnerLookup): Promise<KeyOwner | undefined> {
    try {
      const owner = await owners.find(apiKeyIn(exchange.headers.authorization) ?? '');
      if (owner === undefined || this.#refusedToday.take(owner.keyId, exchange.answeredAtMs) === 0)
        return owner;
      this.#lose('too_many_refused');
      return undefined;
    } catch (error) {
      this.#lose('database', error);
      return undefined;
    }
  }

  async #rowOf(exchange: Exchange, owner: KeyOwner): Promise<RequestLogRow | undefined> {
    try {
      const explanation = exchange.caller === undefined ? await this.#explain(exchange, owner) : null;
      const row = rowOf(exchange, owner, explanation);
      return this.#budget.hasRoom(row, exchange.answeredAtMs) ? row : withoutBodies(row);
    } catch (error) {
      this.#lose('error', error);
      return undefined;
    }
  }

  /** Never throws: a row without its explanation is better than none, and says so. */
  async #explain(exchange: Exchange, owner: KeyOwner): Promise<RefusalExplanation | null> {
    if (exchange.refusal === undefined) return null;
    if (this.#isBusy(owner.keyId, exchange.answeredAtMs))
      return notExplained('too many requests were refused at that time.');
    try {
      const secrets = await readKeySecrets(this.#deps, owner);
      if (secrets === undefined) return null;
      // Most processes never need it.
      const { explainRefusal } = await import('./explain/index.ts');
      const apiKey = apiKeyIn(exchange.headers.authorization) ?? '';
      // Requests that came in the meantime go first.
      await this.#pause();
      return explainRefusal({ exchange, apiKey, secrets, nameOf: (keyId) => encodeId('key', keyId) });
    } catch (error) {
      const { log } = this.#deps;
      if (isLineDue(log, 'request-log explanation'))
        log.warn({ err: error }, 'a refused request is in the request log without its explanation');
      return notExplained('it failed; the log of the process says why.');
    }
  }

  #isBusy(keyId: string, nowMs: number): boolean {
    return this.#explainedOfKey.take(keyId, nowMs) > 0 || this.#explained.take('all', nowMs) > 0;
  }
}

const notExplained = (why: string): RefusalExplanation => ({
  summary: `Not explained: ${why}`,
  payload: null,
  steps: [],
});

/** Finds each key of a group once. When the database is away, the others of the group do not wait for it too. */
class OwnerLookup {
  readonly #db: Db;
  readonly #found = new Map<string, KeyOwner | undefined>();
  #failure: unknown;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(apiKey: string): Promise<KeyOwner | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#found.has(apiKey)) return this.#found.get(apiKey);
    try {
      const owner = await findKeyOwner(this.#db, apiKey);
      this.#found.set(apiKey, owner);
      return owner;
    } catch (error) {
      if (isUnavailable(error)) this.#failure = error;
      throw error;
    }
  }
}
